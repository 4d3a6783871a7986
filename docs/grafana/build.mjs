// Makes one script of panels.jsx and Grafana's libraries: node build.mjs
import {build} from 'esbuild';

// as modules the libraries ask for components of others in a way that only Grafana's own bundler understands
const alias = Object.fromEntries(['ui', 'data'].map(name => [`@grafana/${name}`, `./node_modules/@grafana/${name}/dist/cjs/index.cjs`]));
await build({
  entryPoints: ['panels.jsx'], bundle: true, outfile: 'panels.js', logLevel: 'error', alias,
  loader: {'.svg': 'text', '.png': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl'},
  define: {'process.env.NODE_ENV': '"production"', global: 'window'},
});
