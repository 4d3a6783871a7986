// Only comfort: everything that is said stands in the page without this.
(function () {
  "use strict";

  const page = document.body.dataset.page;
  const root = document.currentScript.getAttribute("src").replace(/assets\/.*/, "");

  // #series=ID&from=DATE&to=DATE, from any page, leads to the series
  function asked() {
    const found = {};
    for (const part of location.hash.slice(1).split("&")) {
      const at = part.indexOf("=");
      if (at < 1) continue;
      try { found[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch { /* no such text: not asked */ }
    }
    return found;
  }

  function follow() {
    const wanted = asked();
    if (!/^[0-9A-Za-z_-]{1,64}$/.test(wanted.series || "")) return false;
    const own = location.pathname.replace(/.*\//, "");
    if (page === "series" && own === wanted.series + ".html") return false;
    location.replace(root + "series/" + wanted.series + ".html" + location.hash);
    return true;
  }

  if (!follow()) window.addEventListener("hashchange", follow);
})();
