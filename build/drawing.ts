import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import { replaceAll } from './plugins.ts';

/**
 * Makes Ink and its layout engine load without waiting, as a script must: Yoga's WebAssembly is instantiated
 * at once instead of by a promise, and Ink's link to React's developer tools is left out. Fails when a new
 * version of either looks different.
 */
export const drawAtOnce: Plugin = {
  name: 'draw-at-once',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]yoga-layout[\\/]dist[\\/]src[\\/]index\.js$/ }, ({ path }) => ({
      contents: yogaAtOnce(dirname(path)),
      resolveDir: dirname(path),
    }));
    onLoad({ filter: /[\\/]yoga-wasm-base64-esm\.js$/ }, ({ path }) => ({
      contents: replaceAll(readFileSync(path, 'utf8'), WASM, '"data:application/octet-stream;base64,"'),
    }));
    onLoad({ filter: /[\\/]ink[\\/]build[\\/]reconciler\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll("process.env['DEV'] === 'true'", 'false'),
    }));
  },
};

/**
 * Lets Ink remember from frame to frame what it has found out about a text: its cells, its width, its lines,
 * and what is printable of it; and the text of each row, for as long as its cells are the same. By itself it
 * forgets all of it with every frame, and makes a new object for each cell; most rows of a frame were in the
 * one before.
 * Fails when a new version of Ink looks different.
 */
export const drawFromMemory: Plugin = {
  name: 'draw-from-memory',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]ink[\\/]build[\\/]output\.js$/ }, ({ path }) => {
      const text = REMEMBERING.reduce(
        (before, [from, to]) => replaceAll(before, from, to),
        readFileSync(path, 'utf8'),
      );
      return { contents: `${text}\n${REMEMBERED}`, resolveDir: dirname(path) };
    });
    onLoad({ filter: /[\\/]ink[\\/]build[\\/]sanitize-ansi\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const inner = replaceAll(text, /^export default sanitizeAnsi;$/m, '');
      return { contents: `${inner}\n${SANITIZED}`, resolveDir: dirname(path) };
    });
  },
};

const REMEMBERING: readonly (readonly [RegExp, string])[] = [
  [/^ {4}caches = new OutputCaches\(\);$/m, '    caches = remembered();'],
  [/row\.push\(\{[^}]*value: ' ',[^}]*\}\);/, 'row.push(BLANK);'],
  [/^ {4}styledChars = new Map\(\);$/m, '    styledChars = new Map(); lines = new Map(); rows = [];'],
  [/(this\.styledChars\.set\(line, )cached\)/, '$1shareStyles(cached))'],
  // Only over a line break do styles have to be carried.
  [
    /(const characterLines = \[\[\]\];.*?)let (lines = characterLines\.map\(line => styledCharsToString\(line\)\);)/s,
    `let lines = text.includes('\\n') ? this.caches.lines.get(text) : [text];
      if (lines === undefined) {
        $1$2
        this.caches.lines.set(text, lines);
      }`,
  ],
  [
    /return this\.sliceLineToColumns\(line, from, to\);/,
    'return from === 0 && to === width ? line : this.sliceLineToColumns(line, from, to);',
  ],
  [
    /\.map\(line => \{[^{}]*styledCharsToString\(lineWithoutEmptyItems\)\.trimEnd\(\);\s*\}\)/,
    '.map((line, y) => textOfRow(this.caches.rows, y, line))',
  ],
];

/** So many texts are remembered: more than the largest frame has. */
const MAX_REMEMBERED = 400;

/** A cell is replaced and never changed, so one blank one serves for all. */
const REMEMBERED = `
  const BLANK = { type: 'char', value: ' ', fullWidth: false, styles: [] };
  let kept = new OutputCaches();
  function remembered() {
    if (kept.styledChars.size > ${MAX_REMEMBERED}) kept = new OutputCaches();
    return kept;
  }
  function shareStyles(cells) {
    for (let at = 1; at < cells.length; at++) {
      const { styles } = cells[at - 1];
      if (areSame(styles, cells[at].styles)) cells[at].styles = styles;
    }
    return cells;
  }
  function textOfRow(rows, y, cells) {
    const before = rows[y];
    if (before !== undefined && areSame(before.cells, cells)) return before.text;
    let end = cells.length;
    while (end > 0 && cells[end - 1] === BLANK) end--;
    const filled = [];
    for (let at = 0; at < end; at++) if (cells[at] !== undefined) filled.push(cells[at]);
    const text = styledCharsToString(filled).trimEnd();
    rows[y] = { cells, text };
    return text;
  }
  function areSame(some, others) {
    if (some.length !== others.length) return false;
    for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false;
    return true;
  }`;

const SANITIZED = `
  let sanitized = new Map();
  export default text => {
    let known = sanitized.get(text);
    if (known === undefined) {
      if (sanitized.size > ${MAX_REMEMBERED}) sanitized = new Map();
      known = sanitizeAnsi(text);
      sanitized.set(text, known);
    }
    return known;
  };`;

const WASM = /"data:application\/octet-stream;base64,([\w+/=]+)"/;

/** The module `yoga-layout` with the instance that Emscripten's hook asks for made at once. */
function yogaAtOnce(folder: string): string {
  const [, wasm] = WASM.exec(readFileSync(join(folder, '../binaries/yoga-wasm-base64-esm.js'), 'utf8')) ?? [];
  if (wasm === undefined) throw new Error('yoga-layout carries its WebAssembly in another way');
  return `
    import loadYoga from '../binaries/yoga-wasm-base64-esm.js';
    import wrapAssembly from './wrapAssembly.js';
    const yoga = {
      instantiateWasm(imports, done) {
        const wasm = new WebAssembly.Module(Buffer.from('${wasm}', 'base64'));
        const instance = new WebAssembly.Instance(wasm, imports);
        done(instance);
        return instance.exports;
      },
    };
    loadYoga(yoga);
    export default wrapAssembly(yoga);
    export * from './generated/YGEnums.js';`;
}
