// Draws a dashboard with the panels of Grafana's libraries: ?board=FILE&from=MS&to=MS&dark=0&prometheus=ADDRESS
//
// What Grafana's server and its front end add is done here in short: queries, variables (all values), options that nothing sets.
import React from 'react';
import {createRoot} from 'react-dom/client';
import * as data from '@grafana/data';
import {BigValue, BigValueColorMode, BigValueGraphMode, GlobalStyles, PanelChrome, PortalContainer, Table, TimeSeries} from '@grafana/ui';
import jsonata from 'jsonata';

const {FieldColorModeId, FieldType, ThresholdsMode, toDataFrame} = data;
const asked = Object.fromEntries(new URLSearchParams(location.search));
const [from, to] = [Number(asked.from), Number(asked.to)];
const theme = data.createTheme({colors: {mode: asked.dark === '1' ? 'dark' : 'light'}});
const timeRange = {from: data.dateTime(from), to: data.dateTime(to), raw: {from: data.dateTime(from), to: data.dateTime(to)}};
const WIDTH = 1240, COLUMN = WIDTH / 24, ROW = 38, GAP = 8, STEP_S = 6 * 3600;
const LINES = {
  drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, pointSize: 5, showPoints: 'auto', spanNulls: false,
  axisPlacement: 'auto', scaleDistribution: {type: 'linear'}, stacking: {mode: 'none', group: 'A'}, thresholdsStyle: {mode: 'off'},
};
const THRESHOLDS = [{value: null, color: 'green'}, {value: 80, color: 'red'}];

async function askPrometheus(target) {
  const query = target.expr.replaceAll(/\$(workload|device)/g, '.*');
  const times = target.range ? {start: from / 1000, end: to / 1000, step: STEP_S} : {time: to / 1000};
  const address = `${asked.prometheus}/api/v1/query${target.range ? '_range' : ''}?${new URLSearchParams({query, ...times})}`;
  const answer = await (await fetch(address)).json();
  if (answer.status !== 'success') throw new Error(JSON.stringify(answer));
  const found = answer.data.result;
  if (target.format === 'table') {
    const labels = [...new Set(found.flatMap(one => Object.keys(one.metric)))].sort();
    return [toDataFrame({refId: target.refId, fields: [
      {name: 'Time', type: FieldType.time, values: found.map(one => one.value[0] * 1000)},
      ...labels.map(name => ({name, type: FieldType.string, values: found.map(one => one.metric[name] ?? '')})),
      {name: `Value #${target.refId}`, type: FieldType.number, values: found.map(one => Number(one.value[1]))},
    ]})];
  }
  return found.map(one => {
    const points = target.range ? one.values : [one.value];
    const name = (target.legendFormat ?? '').replace(/\{\{(\w+)\}\}/g, (_, label) => one.metric[label] ?? '');
    return toDataFrame({refId: target.refId, fields: [
      {name: 'Time', type: FieldType.time, values: points.map(point => point[0] * 1000)},
      {name: name || 'Value', type: FieldType.number, values: points.map(point => Number(point[1])), labels: one.metric, config: {displayNameFromDS: name || undefined}},
    ]});
  });
}

async function askInfinity(target) {
  const answer = await (await fetch(target.url.slice(1))).json();
  const selector = target.root_selector.replaceAll(/(\$string\(\w+\)|\w+) in \[\$\{\w+:doublequote\}\]/g, 'true');
  const rows = [await jsonata(selector).evaluate(answer) ?? []].flat();
  const cell = (value, kind) => kind === 'timestamp' ? Date.parse(value) : kind === 'string' ? String(value) : value;
  return [toDataFrame({refId: target.refId, fields: target.columns.map(({selector: key, text, type}) => ({
    name: text, type: type === 'timestamp' ? FieldType.time : FieldType[type], values: rows.map(row => row[key] == null ? null : cell(row[key], type)),
  }))})];
}

// no library has this transformation
function partitioned(frame, names) {
  const keys = frame.fields.filter(field => names.includes(field.name)), groups = new Map();
  for (let row = 0; row < frame.length; row++) {
    const key = JSON.stringify(keys.map(field => field.values[row]));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map(rows => toDataFrame({fields: frame.fields.filter(field => !keys.includes(field)).map(field => ({
    name: field.name, type: field.type, values: rows.map(row => field.values[row]),
    labels: field.type === FieldType.number ? Object.fromEntries(keys.map(key => [key.name, key.values[rows[0]]])) : undefined,
  }))}));
}

async function framesOf(panel) {
  const ask = panel.targets[0].expr === undefined ? askInfinity : askPrometheus;
  let frames = (await Promise.all(panel.targets.map(ask))).flat();
  for (const one of panel.transformations ?? []) {
    frames = one.id === 'partitionByValues'
      ? partitioned(frames[0], one.options.fields)
      : await new Promise(done => data.transformDataFrame([one], frames, {interpolate: text => text}).subscribe(done));
  }
  const {defaults = {}, overrides = []} = panel.fieldConfig ?? {};
  const steps = (defaults.thresholds?.steps ?? THRESHOLDS).map(step => ({...step, value: step.value ?? -Infinity}));
  const isChart = panel.type === 'timeseries';
  for (const [field, frame] of frames.flatMap(frame => frame.fields.map(field => [field, frame]))) {
    const name = data.getFieldDisplayName(field, frame, frames);
    const config = {
      ...field.config, ...(field.type === FieldType.number ? defaults : {}), custom: isChart ? {...LINES} : {},
      color: {mode: isChart ? FieldColorModeId.PaletteClassic : FieldColorModeId.Thresholds}, thresholds: {mode: ThresholdsMode.Absolute, steps},
    };
    for (const {id, value} of overrides.filter(one => one.matcher.options === name).flatMap(one => one.properties)) {
      if (id === 'custom.width') config.custom.width = value;
      else config[id] = value;
    }
    config.displayName = config.displayName?.replace(/\$\{__field\.labels\.(\w+)\}/g, (_, label) => String(field.labels?.[label]));
    field.config = config;
  }
  return data.applyFieldOverrides({
    data: frames, fieldConfig: {defaults: {}, overrides: []}, fieldConfigRegistry: new data.Registry(() => []), theme, timeZone: 'utc', replaceVariables: text => text,
  });
}

function Content({panel, frames, width, height}) {
  if (!frames.some(frame => frame.length)) return <div style={{padding: 16, color: theme.colors.text.secondary}}>No data</div>;
  if (panel.type === 'table') return <Table data={frames[0]} width={width} height={height} />;
  if (panel.type === 'stat') {
    const field = frames[0].fields.find(one => one.type === FieldType.number);
    const value = field.display(field.values[field.values.length - 1]);
    return <BigValue theme={theme} width={width} height={height} value={value} colorMode={BigValueColorMode.Value} graphMode={BigValueGraphMode.None} />;
  }
  const legend = {showLegend: true, displayMode: 'list', placement: 'bottom', calcs: []};
  return <TimeSeries frames={frames} width={width} height={height} timeRange={timeRange} timeZone="utc" legend={legend} options={{}} />;
}

function Board({panels}) {
  const height = Math.max(...panels.map(([{gridPos}]) => gridPos.y + gridPos.h)) * ROW;
  return <div id="board" style={{position: 'relative', margin: GAP, width: WIDTH, height, background: theme.colors.background.canvas}}>
    {panels.map(([panel, frames], place) => {
      const {x, y, w, h} = panel.gridPos, size = {width: w * COLUMN - GAP, height: h * ROW - GAP};
      return <div key={place} style={{position: 'absolute', left: x * COLUMN, top: y * ROW, ...size}}>
        <PanelChrome title={panel.title} {...size}>{(width, height) => <Content {...{panel, frames, width, height}} />}</PanelChrome>
      </div>;
    })}
  </div>;
}

async function main() {
  const {mergeTransformer, organizeFieldsTransformer, orderFieldsTransformer, renameFieldsTransformer, filterFieldsTransformer, filterFieldsByNameTransformer} = data.standardTransformers;
  const known = [mergeTransformer, organizeFieldsTransformer, orderFieldsTransformer, renameFieldsTransformer, filterFieldsTransformer, filterFieldsByNameTransformer];
  data.standardTransformersRegistry.setInit(() => known.map(one => ({id: one.id, name: one.name, transformation: one})));
  const board = await (await fetch(asked.board)).json();
  const panels = await Promise.all(board.panels.map(async panel => [panel, await framesOf(panel)]));
  createRoot(document.getElementById('root')).render(
    <data.ThemeContext.Provider value={theme}><GlobalStyles /><PortalContainer /><Board panels={panels} /></data.ThemeContext.Provider>,
  );
  setTimeout(() => { document.title = document.getElementById('board') ? 'ready' : 'failed'; }, 1000);
}

main().catch(error => { document.title = `failed: ${error.stack}`; });
