import { basename } from 'node:path';
import { type BuildOptions, build, type Metafile, transform } from 'esbuild';

/** Scripts of many parts, and what they were made from. */
export interface Parts {
  /** A function of `exports`, `require`, `module`, `__filename`, `__dirname` and `volume`. */
  readonly script: string;
  /** What is asked for as `volume(name)`, by its name: what the script of that name gives. */
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly metafile: Metafile;
}

export interface Volume {
  readonly text: string;
  /** The files that it was made from, as paths below the checkout. */
  readonly inputs: readonly string[];
}

/**
 * Bundles an entry point and all that it imports into a script, whose exports are those of the entry point,
 * and volumes, which it asks for when it first needs them. They are in ASCII.
 *
 * What is always loaded together is one part, and each part is a function of its own. V8 keeps something of
 * every function around the one that it runs, so that a start pays for the parts that it loads, and for no
 * function of another part. The modules `alone` are parts of their own in any case: those beside which they
 * would lie are loaded more often than they are used.
 *
 * A large part is a volume of its own. Every start reads the script from end to end, and pays for its bytes.
 */
export async function bundleParts(
  entryPoint: string,
  alone: readonly string[],
  options: BuildOptions,
): Promise<Parts> {
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: [entryPoint, ...alone],
    entryNames: '[name]-[hash]',
    outdir: 'parts',
    format: 'esm',
    splitting: true,
    write: false,
    metafile: true,
  });
  const names = new Map(outputFiles.map(({ path }, at) => [basename(path), `part${at}`]));
  if (!outputFiles.some(({ text }) => NAMESPACE.test(text)))
    throw new Error('esbuild imports CommonJS in another way');
  const parts = outputFiles.map(async ({ path, text }) => {
    const named = oneNamespaceEach(text).replace(PART, (whole, file) =>
      names.has(file) ? `"${names.get(file)}"` : whole,
    );
    return { name: names.get(basename(path)) ?? '', code: await partOf(named) };
  });
  const [entry] = Object.entries(metafile.outputs).find(([, made]) => made.entryPoint === entryPoint) ?? [];
  const first = names.get(basename(entry ?? ''));
  const all = await Promise.all(parts);
  const isVolume = ({ name, code }: Part) => name !== first && code.length >= VOLUME;
  const small = all.filter((part) => !isVolume(part)).map(({ name, code }) => `${name}${code}`);
  const volumes = all.filter(isVolume);
  const known = JSON.stringify(volumes.map(({ name }) => name));
  const script = `${HEAD}
    const volumes = new Set(${known});
    const parts = {__proto__: null, ${small.join(',\n')}};
    module.exports = require('${first}')})`;
  const inputsOf = new Map(
    Object.entries(metafile.outputs).map(([path, { inputs }]) => [
      names.get(basename(path)),
      Object.keys(inputs),
    ]),
  );
  const written = volumes.map(async ({ name, code }): Promise<[string, Volume]> => {
    const text = await smallest(`(function({${SHARED}}) { return function${code}})`);
    return [name, { text, inputs: inputsOf.get(name) ?? [] }];
  });
  return { script: await smallest(script), volumes: new Map(await Promise.all(written)), metafile };
}

interface Part {
  readonly name: string;
  readonly code: string;
}

/** Characters from which on a part is a volume. Smaller ones cost more as files than as bytes. */
const VOLUME = 50_000;

async function smallest(script: string): Promise<string> {
  const { code } = await transform(script, { minifyWhitespace: true, target: 'node24' });
  return code.replace(/;?\n$/, '').replace(/[^\0-\x7f]/g, escaped);
}

/**
 * Makes the namespace of a CommonJS module once, as it is for a module of any other kind. esbuild makes it
 * for every import: of React, which is imported in more than thirty files, that took as long as drawing.
 */
function oneNamespaceEach(text: string): string {
  return text.replace(
    NAMESPACE,
    (_, make: string) => `__toESM=(()=>{
      const make=${make}, made=new WeakMap();
      return (mod, isNodeMode) => {
        if (!isNodeMode || Object(mod) !== mod) return make(mod, isNodeMode);
        if (!made.has(mod)) made.set(mod, make(mod, isNodeMode));
        return made.get(mod);
      };
    })();`,
  );
}

const NAMESPACE = /__toESM=(\(mod,isNodeMode,target\)=>\(target=[^;]*target,mod\)\));/;

/** How the files of esbuild import one another; a part has a short name, because it stands at each use. */
const PART = /"\.\/([^"/]+-[A-Z0-9]{8}\.js)"/g;

/** A module as a function that gets its exports, its module and `require`. */
async function partOf(text: string): Promise<string> {
  // What lies beside the script is loaded by `require`: of `import` in a script that was compiled before,
  // Node warns.
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    sourcefile: 'part.mjs',
    supported: { 'dynamic-import': false },
  });
  const own = code.split(/^(?=var |module\.)/m);
  const first = own.findIndex((statement) => !HELPER.test(statement));
  return `(exports,module,require){${importedLate(own.slice(first).join(''))}}`;
}

/**
 * A module that loads what it imports when it first uses it: of most of what a command imports, it uses
 * nothing. The order in which modules run is then that of their use, so none may count on another order.
 *
 * What it never uses it does not name. esbuild imports all that the files of a part import, for what their
 * loading may do; that is two of three imports here.
 */
function importedLate(code: string): string {
  return [IMPORT, IMPORT_COMMON].reduce((late, pattern) => {
    let later = late;
    for (const [statement, name = '', loaded = ''] of late.matchAll(pattern)) {
      const without = later.replace(statement, '');
      // In brackets, because `new` would take the call for its own.
      const called = without.replace(new RegExp(`\\b${name}\\b`, 'g'), `(${name}())`);
      later = called === without ? without : `var ${name} = __late(() => ${loaded});\n${called}`;
    }
    return later;
  }, code);
}

/** Of another part, or of Node. */
const IMPORT = /^var (import_\w+) = ((?:__toESM\()?require\("[^"]+"\)(?:, 1)?\)?);\n/gm;

/** Of a CommonJS module, in this part or in another. */
const IMPORT_COMMON =
  /^var (import_\w+) = (\(0, \(import_\w+\(\)\)\.__toESM\)\((?:require_\w+|\(0, \(import_\w+\(\)\)\.require_\w+\))\(\)(?:, 1)?\));\n/gm;

/** What esbuild puts before a module that it turns into a script; `HEAD` has what is needed of it, once. */
const HELPERS = [
  ...['defProp', 'getOwnPropDesc', 'getOwnPropNames', 'getProtoOf', 'hasOwnProp', 'create'],
  ...['export', 'copyProps', 'toESM', 'toCommonJS'],
];
const HELPER = new RegExp(`^var __(?:${HELPERS.join('|')}) = `);

/** What the parts use of the script around them. */
const SHARED = '__late, __export, __toCommonJS, __toESM, here, __filename, __dirname';

/**
 * Loads each part once. A part gives the others what it exports as it is; what is no part comes from
 * Node, and its default export is all of it, as for any module that imports it.
 */
const HEAD = `(function(exports, nodeRequire, module, __filename, __dirname, volume) {
  const here = nodeRequire('node:url').pathToFileURL(__filename).href;
  const loaded = new Map();
  const areOfParts = new WeakSet();
  function require(name) {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const part = volumes.has(name) ? volume(name)({${SHARED}}) : parts[name];
    if (part === undefined) return nodeRequire(name);
    const made = { exports: {} };
    loaded.set(name, made);
    part(made.exports, made, require);
    return made.exports;
  }
  const __late = (load) => {
    let loaded;
    return () => (loaded ??= load());
  };
  const __export = (target, all) => {
    for (const name in all) Object.defineProperty(target, name, { get: all[name], enumerable: true });
  };
  const __toCommonJS = (exported) => {
    areOfParts.add(exported);
    return exported;
  };
  const __toESM = (given) =>
    areOfParts.has(given) ? given : Object.create(given, { default: { value: given, enumerable: true } });
`;

/**
 * esbuild leaves only regular expressions in Unicode. V8 reads ASCII faster, and keeps it in half the memory.
 */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
