import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

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
 * Lets Ink remember from frame to frame what it has found out about a text: its cells, its width, and what is
 * printable of it. By itself it forgets all of it with every frame, and makes a new object for each cell;
 * most rows of a frame were in the one before.
 * Fails when a new version of Ink looks different.
 */
export const drawFromMemory: Plugin = {
  name: 'draw-from-memory',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]ink[\\/]build[\\/]output\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const shared = replaceAll(text, /^ {4}caches = new OutputCaches\(\);$/m, '    caches = remembered();');
      const blank = replaceAll(shared, /row\.push\(\{[^}]*value: ' ',[^}]*\}\);/, 'row.push(BLANK);');
      return { contents: `${blank}\n${REMEMBERED}`, resolveDir: dirname(path) };
    });
    onLoad({ filter: /[\\/]ink[\\/]build[\\/]sanitize-ansi\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const inner = replaceAll(text, /^export default sanitizeAnsi;$/m, '');
      return { contents: `${inner}\n${SANITIZED}`, resolveDir: dirname(path) };
    });
  },
};

/** So many texts are remembered: more than the largest frame has. */
const MOST_REMEMBERED = 400;

/** A cell is replaced and never changed, so one blank one serves for all. */
const REMEMBERED = `
  const BLANK = { type: 'char', value: ' ', fullWidth: false, styles: [] };
  let kept = new OutputCaches();
  function remembered() {
    if (kept.styledChars.size > ${MOST_REMEMBERED}) kept = new OutputCaches();
    return kept;
  }`;

const SANITIZED = `
  let sanitized = new Map();
  export default text => {
    let known = sanitized.get(text);
    if (known === undefined) {
      if (sanitized.size > ${MOST_REMEMBERED}) sanitized = new Map();
      known = sanitizeAnsi(text);
      sanitized.set(text, known);
    }
    return known;
  };`;

/**
 * Leaves out what costs every start and serves nobody: the translations of zod's messages, and what the
 * packages that draw know Unicode by, until a text is more than src/plain/graphemes.ts knows. Fails when a
 * new version of one of them looks different.
 */
export const startLazily: Plugin = {
  name: 'start-lazily',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js';`,
    }));
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]schemas\.js$/ }, ({ path }) => ({
      contents: generatedLate(readFileSync(path, 'utf8')),
      resolveDir: dirname(path),
    }));
    onLoad({ filter: /[\\/]string-width[\\/]index\.js$/ }, ({ path }) => ({
      contents: simpleWidthFirst(lateExpressions(readFileSync(path, 'utf8'))),
      resolveDir: dirname(path),
    }));
    onLoad({ filter: SEGMENTS }, ({ path }) => ({
      contents: simpleGraphemesFirst(readFileSync(path, 'utf8')),
      resolveDir: dirname(path),
    }));
  },
};

/**
 * The part of undici that Lifeboat uses: its index starts the fetch API, web sockets, mocks and caches with
 * it. HTTP/2 is started by the first connection that speaks it, and none does. What src imports besides
 * does not build until it is named here.
 */
export const undiciInPart: Plugin = {
  name: 'undici-in-part',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]undici[\\/]index\.js$/ }, ({ path }) => ({
      contents: UNDICI,
      resolveDir: dirname(path),
    }));
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client\.js$/ }, ({ path }) => ({
      contents: replaceAll(
        readFileSync(path, 'utf8'),
        /^const connectH2 = (require\('.\/client-h2.js'\))$/m,
        'const connectH2 = (...given) => $1(...given)',
      ),
      resolveDir: dirname(path),
    }));
  },
};

/**
 * Lets age-encryption read its streams itself: a `Response` makes Node load its whole fetch API, which is a
 * tenth of a start that opens the vault. Fails when a new version looks different.
 */
export const ageWithoutFetch: Plugin = {
  name: 'age-without-fetch',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]age-encryption[\\/]dist[\\/]io\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const bytes = replaceAll(
        text,
        /new Uint8Array\(await new Response\(stream\)\.arrayBuffer\(\)\)/,
        'flatten(await Array.fromAsync(stream))',
      );
      const both = replaceAll(
        bytes,
        /await new Response\(stream\)\.text\(\)/,
        'new TextDecoder().decode(flatten(await Array.fromAsync(stream)))',
      );
      if (both.includes('new Response')) throw new Error('age-encryption reads a stream in a third way');
      return { contents: both, resolveDir: dirname(path) };
    });
  },
};

const UNDICI = `
  import api from './lib/api/index.js';
  import Dispatcher from './lib/dispatcher/dispatcher.js';
  import retry from './lib/interceptor/retry.js';
  Object.assign(Dispatcher.prototype, api);
  export const interceptors = { retry };
  export { default as Agent } from './lib/dispatcher/agent.js';
  export { default as Client } from './lib/dispatcher/client.js';
  export { default as EnvHttpProxyAgent } from './lib/dispatcher/env-http-proxy-agent.js';
  export { default as buildConnector } from './lib/core/connect.js';
`;

/** The other packages that segment what is drawn. */
const SEGMENTS =
  /[\\/](?:wrap-ansi[\\/]index|@alcalzone[\\/]ansi-tokenize[\\/]build[\\/]tokenize|slice-ansi[\\/]tokenize-ansi|cli-truncate[\\/]index|ink[\\/]build[\\/]line-update)\.js$/;

const GRAPHEMES = JSON.stringify(join(import.meta.dirname, '../src/plain/graphemes.ts'));

/**
 * zod generates code for each schema of an object at its first use, which takes as long as reading some
 * dozens without it. Most schemas of a start read one thing.
 */
function generatedLate(text: string): string {
  const counted = replaceAll(text, /^( +)let fastpass;$/m, '$1let fastpass;\n$1let uses = 0;');
  return replaceAll(counted, /ctx\.jitless !== true\)/, 'ctx.jitless !== true && ++uses > 50)');
}

/** A module with our segmenter in the place of the one that knows all of Unicode. */
function simpleGraphemesFirst(text: string): string {
  const ours = replaceAll(text, /new Intl\.Segmenter\([^)]*\)/g, 'new GraphemeSegmenter()');
  return `import { GraphemeSegmenter } from ${GRAPHEMES};\n${ours}`;
}

/** `string-width` that measures a text in full only when it is more than characters of one cell each. */
function simpleWidthFirst(text: string): string {
  const inFull = replaceAll(text, /^export default function stringWidth\(/gm, 'function inFull(');
  if (!/^import stripAnsi from/m.test(text)) throw new Error('string-width strips sequences in another way');
  return `import { isOneCellEach } from ${GRAPHEMES};\n${inFull}
export default function stringWidth(input, options) {
  if (typeof input !== 'string' || options?.ambiguousIsNarrow === false) return inFull(input, options);
  const isWhole = options?.countAnsiEscapeCodes || !/[\\u001B\\u009B]/.test(input);
  const text = isWhole ? input : stripAnsi(input);
  return isOneCellEach(text) ? text.length : inFull(input, options);
}
`;
}

/**
 * Makes each regular expression of a module, and its segmenter, a function that builds it once, when it is
 * used.
 */
function lateExpressions(text: string): string {
  const made = [...text.matchAll(/^const (\w+Regex|segmenter) = (.+);$/gm)];
  if (made.length === 0) throw new Error('string-width builds its regular expressions in another way');
  let late = text;
  for (const [, name = ''] of made) {
    late = late
      .replace(new RegExp(`^const ${name} = (.+);$`, 'm'), `const ${name} = late(() => $1);`)
      .replace(new RegExp(`(?<!const )\\b${name}\\b`, 'g'), `${name}()`);
  }
  return `${late}\nfunction late(make) { let made; return () => (made ??= make()); }\n`;
}

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

function replaceAll(text: string, pattern: RegExp, by: string): string {
  if (text.search(pattern) === -1)
    throw new Error(`the build looks for ${pattern} in a package and does not find it`);
  return text.replace(pattern, by);
}
