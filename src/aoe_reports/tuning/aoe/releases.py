"""What `aoe` takes in each release of CANN and on each product, as its documents say, and which release is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aoe_reports.formats.aoe.result_files import read_bytes
from aoe_reports.model.errors import ReadError

Product = Literal["A2", "A3", "Atlas training", "Atlas inference", "950"]

_PREFIXES: tuple[tuple[str, Product], ...] = (
    ("ascend910_93", "A3"), *((f"ascend910b{n}", "A2") for n in range(1, 5)),
    ("ascend950", "950"), ("ascend910", "Atlas training"), ("ascend310p", "Atlas inference"),
)  # fmt: skip
"""Products by the beginning of a chip's name; Ascend910B without a number is one of the older chips."""

INSTALLATION = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")
"""The variables with which set_env.sh names the installation."""

_RELEASE = re.compile(r"(?:CANN[ _-]?)?(\d{1,2})\.(\d{1,2})(?:\.(RC)?(\d{1,3}))?(?![\d])", re.IGNORECASE | re.ASCII)
_FINAL = 1000
"""What stands for the final release behind its candidates: 8.1.RC1 comes before 8.1.0."""
_INSTALLED = re.compile(r"^version=(\S{1,64})\s*$", re.MULTILINE | re.ASCII)
_MAX_INSTALL_INFO = 1 << 16


@dataclass(frozen=True, slots=True)
class AoeOption:
    """Options of `aoe` with the same history, and where that is written."""

    names: tuple[str, ...]
    source: str
    since: str | None = None
    """The first release that lists them; null: every release whose list was read."""
    products: Mapping[Product, str] | None = None
    """The only products that take them, each with its first release; null: all."""
    refused_by: tuple[str, ...] = ()
    """Releases known to refuse them, though no document says so."""

    def taken_by(self, release: str | None) -> bool | None:
        """Whether a release takes them; null where neither the documents nor a test tells."""
        if release in self.refused_by:
            return False
        if self.refused_by:
            return None
        first, asked = release_key(self.since or ""), release_key(release or "")
        if first is None:
            return True
        return None if asked is None else asked >= first


AOE_OPTIONS = (
    AoeOption(
        ("--model", "--weight", "--model_path", "--job_type", "--framework", "--input_format", "--input_shape",
         "--dynamic_batch_size", "--dynamic_image_size", "--dynamic_dims", "--reload", "--device", "--progress_bar",
         "--singleop", "--output", "--output_type", "--out_nodes", "--input_fp16_nodes", "--insert_op_conf", "--op_name_map",
         "--is_input_adjust_hw_layout", "--is_output_adjust_hw_layout", "--host_env_os", "--host_env_cpu", "--aicore_num",
         "--disable_reuse_memory", "--fusion_switch_file", "--enable_scope_fusion_passes", "--enable_single_stream",
         "--enable_small_channel", "--buffer_optimize", "--compress_weight_conf", "--compression_optimize_conf", "--sparsity",
         "--precision_mode", "--op_select_implmode", "--optypelist_for_implmode", "--op_precision_mode", "--modify_mixlist",
         "--keep_dtype", "--customize_dtypes", "--op_debug_level", "--log", "--tune_ops_file", "--tune_optimization_level",
         "--Fdeeper_opat", "--Fnonhomo_split"),
        "AOE reference, list of options (aoepar_16_001): 8.2.RC1, 8.5.0, 9.0.0",
    ),
    AoeOption(("--ip", "--port"), "AOE reference for Ascend RC, list of options (aoerc_16_0017): 8.2.RC1, 8.5.0, 9.0.0"),
    AoeOption(
        ("--virtual_type",), "AOE reference, list of options: 8.2.RC1 (aoepar_16_000), 8.5.0, 9.0.0 (aoepar_16_001)",
        products={"Atlas inference": "8.2.RC1"},
    ),
    AoeOption(
        ("--Fop_format",), "AOE reference, --Fop_format: 6.3.RC2 (aoepar_16_059), 7.0.0 to 9.2.0-beta1 (aoepar_16_055)",
        since="6.3.RC2",
    ),
    AoeOption(
        ("--op_tune_mode", "--op_tune_file", "--op_tune_kernel_path", "--soc_version"),
        "AOE reference, --op_tune_mode and the pages behind it (aoepar_16_057 to 060): 7.0.0 (A2), 8.1.RC1 (A2, A3), 9.0.0",
        since="7.0.0", products={"A2": "7.0.0", "A3": "8.1.RC1"},
    ),
    AoeOption(
        ("--precision_mode_v2",), "no list of options has it; aoe of 7.0.RC1 was seen to refuse it with exit code 2",
        refused_by=("7.0.RC1",),
    ),
)  # fmt: skip
"""Every option of `aoe` that a document names. Where `aoe --help` of a machine can be run, it decides."""

OPTION_OF: Mapping[str, AoeOption] = {name: option for option in AOE_OPTIONS for name in option.names}


def product_of(soc: str | None) -> Product | None:
    """The product of a chip; null where the chip is not known."""
    return next((product for prefix, product in _PREFIXES if (soc or "").lower().startswith(prefix)), None)


def release_key(text: str) -> tuple[int, int, int] | None:
    """What puts releases in order: 8.1.RC1 before 8.1.0 before 8.2.RC1, alpha and beta as what they lead to; null for other text."""
    found = _RELEASE.match(text)
    if found is None:
        return None
    third = int(found[4] or 0)
    return int(found[1]), int(found[2]), third if found[3] else _FINAL + third


def installed_release(environment: Mapping[str, str]) -> str | None:
    """The version of the installed CANN: where its guide says to look (ascend_toolkit_install.info); null where there is none."""
    roots = [Path(root) for name in INSTALLATION if (root := environment.get(name))]
    for path in (path for root in roots for path in sorted(root.glob("*-linux/ascend_toolkit_install.info"))):
        try:
            found = _INSTALLED.search(read_bytes(path, _MAX_INSTALL_INFO).decode("utf-8", "replace"))
        except ReadError:
            continue
        if found is not None:
            return found[1]
    return None
