import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'esbuild';

/**
 * Leaves out what costs every start and serves nobody: the translations of zod's messages, Node's assertions
 * for the one of signal-exit, and what the packages that draw know Unicode by, until a text is more than
 * src/plain/graphemes.ts knows. Fails when a new version of one of them looks different.
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
    onLoad({ filter: /[\\/]signal-exit[\\/]index\.js$/ }, ({ path }) => ({
      contents: replaceAll(
        readFileSync(path, 'utf8'),
        /^ {2}var assert = require\('assert'\)$/m,
        '  var assert = { equal(is, due, why) { if (is !== due) throw new TypeError(why) } }',
      ),
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

/**
 * Yoga looks whether there is a `fetch`, and Node would load its whole HTTP client to tell. Only here: a
 * check of a plan asks by it. Fails when a new version looks different.
 */
export const yogaWithoutFetch: Plugin = {
  name: 'yoga-without-fetch',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]yoga-layout[\\/]dist[\\/]binaries[\\/].+\.js$/ }, ({ path }) => ({
      contents: replaceAll(readFileSync(path, 'utf8'), /typeof fetch\b/g, 'typeof undefined'),
      resolveDir: dirname(path),
    }));
  },
};

/**
 * pg-boss without what it brings for others: recurrence rules, which are a fifth of its bytes. Schedules here
 * are cron expressions.
 */
export const bossInPart: Plugin = {
  name: 'boss-in-part',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]rrule-temporal[\\/]dist[\\/]index\.js$/ }, () => ({
      contents: `export class RRuleTemporal {
        constructor() { throw new Error('a schedule is a cron expression: recurrence rules are left out') }
      }`,
    }));
  },
};

/** Beyond these, one more frequent password says hardly more about a text that somebody types. */
const MAX_PASSWORDS = 20_000;

/**
 * The word lists of zxcvbn in a third of their bytes: compressed, and of the passwords the most frequent.
 * Fails when a new version keeps them in another way.
 */
export const smallWordLists: Plugin = {
  name: 'small-word-lists',
  setup({ onLoad }) {
    onLoad(
      { filter: /language-common[\\/]dist[\\/](?:passwords|diceware)\.json\.cjs$/ },
      async ({ path }) => {
        const { default: words } = (await import(pathToFileURL(path.replace(/cjs$/, 'mjs')).href)) as {
          default: readonly string[];
        };
        if (!Array.isArray(words) || words[0] === undefined)
          throw new Error(`${path} holds no list of words`);
        const text = words.slice(0, MAX_PASSWORDS).join('\n');
        const packed = brotliCompressSync(text).toString('base64');
        const unpacked = `require('node:zlib').brotliDecompressSync(Buffer.from('${packed}', 'base64'))`;
        return { contents: `module.exports = ${unpacked}.toString().split('\\n');`, loader: 'js' };
      },
    );
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
  export { default as Pool } from './lib/dispatcher/pool.js';
  export { default as ProxyAgent } from './lib/dispatcher/proxy-agent.js';
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

/** Replaces in a file of a package. Throws where nothing of it fits. */
export function replaceAll(text: string, pattern: RegExp, by: string): string {
  if (text.search(pattern) === -1)
    throw new Error(`the build looks for ${pattern} in a package and does not find it`);
  return text.replace(pattern, by);
}
