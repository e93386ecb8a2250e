import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { impuritiesOf } from './architecture/purity.ts';
import { allowancesOf, ROOMS } from './architecture/rooms.ts';
import {
  covers,
  mayImport,
  nodesOf,
  parseSource,
  ROOT,
  readSourceFiles,
  roomOf,
  type SourceFile,
} from './architecture/source-files.ts';
import { mayReadTimes, READERS, timesReadIn } from './architecture/times.ts';

const FILES = readSourceFiles();

describe('rooms', () => {
  it('every file belongs to a room that the table knows', () => {
    expect(FILES.filter((file) => roomOf(file.path) === undefined).map((file) => file.path)).toEqual([]);
  });

  it.each(ROOMS)('$files: $why', (room) => {
    const inside = FILES.filter((file) => roomOf(file.path) === room);
    expect(inside, 'the room is empty').not.toEqual([]);
    expect(inside.flatMap(trespassesOf), room.why).toEqual([]);
  });

  it('the table allows nothing that is not used', () => {
    const idle = ROOMS.flatMap((room) => {
      const imports = FILES.filter((file) => roomOf(file.path) === room).flatMap((file) => file.imports);
      const unused = allowancesOf(room).filter((allowed) => {
        const onlyTypes = allowed.startsWith('type ');
        return !imports.some(
          (found) => found.typeOnly === onlyTypes && covers(allowed, found.target, onlyTypes),
        );
      });
      return unused.map((allowed) => `${room.files}: ${allowed}`);
    });
    expect(idle).toEqual([]);
  });

  it('a forbidden import is found in whatever form it is written', () => {
    const lines = [
      `import { openLab } from '../../lab/lab.ts';`,
      `import type { Lab } from '../../lab/lab.ts';`,
      `export * from '../../service/open.ts';`,
      `const later = await import('../../keys/vault.ts');`,
      `type Entry = import('../../journal/journal.ts').Entry;`,
      `const fs = require('node:fs');`,
      `const any = await import(later.name);`,
      `import { type RunView } from '../../view/run-view.ts';`,
    ];
    const planted = parseSource('src/tui/parts/planted.ts', lines.join('\n'));
    expect(trespassesOf(planted)).toHaveLength(lines.length);
  });
});

describe('machines', () => {
  it('use no clock, no randomness and nothing outside, and never wait by themselves', () => {
    const machines = FILES.filter((file) => file.path.startsWith('machines/'));
    expect(machines.flatMap(impuritiesOf)).toEqual([]);
  });

  it('an impurity is found however it is written', () => {
    const lines = [
      `import { assign, raise, type AnyStateMachine } from 'xstate';`,
      `import * as all from 'xstate';`,
      `const state = { after: { 1000: 'late' } };`,
      `const send = { type: 'x', 'delay': 5 };`,
      `const now = () => Date.now();`,
      `const luck = Math.random() + Math['random']();`,
      `const timer = globalThis.setTimeout(() => undefined, 1);`,
    ];
    const harmless = [
      `import { assign, fromPromise, setup } from 'xstate';`,
      `const facts = { Date: 1, process: 2, fetch: 3 };`,
      `const half = Math.floor(facts.Date / facts.process);`,
    ];
    expect(impuritiesOf(parseSource('machines/planted.ts', lines.join('\n')))).toHaveLength(lines.length + 1);
    expect(impuritiesOf(parseSource('machines/harmless.ts', harmless.join('\n')))).toEqual([]);
  });
});

describe('times', () => {
  it('are read by one parser, which assumes UTC without a zone; Date is used only where the list says why', () => {
    expect(FILES.filter(({ path }) => !mayReadTimes(path)).flatMap(timesReadIn)).toEqual([]);
  });

  it('the list contains no place that needs no exception', () => {
    const idle = [...READERS.keys()].filter((place) =>
      FILES.filter(({ path }) => path.startsWith(place)).every((file) => timesReadIn(file).length === 0),
    );
    expect(idle).toEqual([]);
  });

  it('another parser is found however it is called', () => {
    const lines = [
      `const at = Date.parse(text);`,
      `const also = Date['parse'](text);`,
      `const then = new Date(text);`,
      `const local = new Date(2026, 2, 1);`,
      `const { parse } = Date;`,
      `const ms = texts.map(Date.parse);`,
      `const Other = globalThis.Date;`,
    ];
    const harmless = [
      `const now: Date = new Date();`,
      `const ms = Date.now() - Date.UTC(2026, 2, 1);`,
      `const is = (value: unknown): value is Date => value instanceof Date;`,
      `const facts = { Date: 1 };`,
    ];
    expect(timesReadIn(parseSource('src/planted.ts', lines.join('\n')))).toHaveLength(lines.length);
    expect(timesReadIn(parseSource('src/harmless.ts', harmless.join('\n')))).toEqual([]);
  });
});

describe('files', () => {
  it('none is longer than 500 lines', () => {
    const sizes = FILES.map((file) => ({ path: file.path, lines: file.text.split('\n').length - 1 }));
    expect(sizes.filter((size) => size.lines > 500)).toEqual([]);
  });

  it('limit times by timeLimit, since Node keeps signals of AbortSignal.timeout', () => {
    const inBrowsers = 'src/serve/html/script.ts';
    const users = FILES.filter(
      ({ path, text }) => path !== inBrowsers && text.includes('AbortSignal.timeout('),
    );
    expect(users.map(({ path }) => path)).toEqual([]);
  });

  it('have lines of at most 110 columns, but for a text that cannot be broken', () => {
    const code = projectFiles().filter((path) => /^(build|machines|src|test)\/.*\.(tsx?|mjs)$/.test(path));
    expect(code.length).toBeGreaterThan(FILES.length);
    expect(code.flatMap((path) => longLinesIn(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  it('a line that is too long is found in code and in comments; a text and an address may be of any length', () => {
    const long = 'word '.repeat(30).trim();
    const planted = [
      `const one = '${long}';`,
      `// ${long}`,
      `const two = [${'three, '.repeat(20)}];`,
      `const four = \`${long} \${two} ${long}\`;`,
      ` /* https://example.com/${long.replaceAll(' ', '-')} */`,
    ];
    expect(longLinesIn('src/planted.ts', planted.join('\n'))).toEqual([
      'src/planted.ts:2',
      'src/planted.ts:3',
    ]);
  });

  it('are named in kebab-case', () => {
    const paths = projectFiles().filter((path) => /^(machines|src|test|runbooks)\//.test(path));
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.long)?(\.test|\.config)?\.[a-z]+$/;
    expect(paths.filter((path) => !kebab.test(basename(path)))).toEqual([]);
  });

  it('none is left over: each is imported, directly or indirectly, from the command line', () => {
    const known = new Map(FILES.map((file) => [file.path, file]));
    const reached = new Set<string>();
    const visit = (path: string): void => {
      const file = known.get(path);
      if (file === undefined || reached.has(path)) return;
      reached.add(path);
      for (const { target } of file.imports) visit(target);
    };
    // The build names its ways in.
    const build = readFileSync(join(ROOT, 'build/bundles.ts'), 'utf8');
    const named = build.matchAll(/(?<=entryPoints: \[')src\/[\w./-]+\.tsx?/g);
    for (const [path] of named) visit(normalize(path));
    expect(FILES.map((file) => file.path).filter((path) => !reached.has(path))).toEqual([]);
  });

  it('none names a folder of the machine it was written on, or a registry that others cannot reach', () => {
    const traces = [
      /(?<![\w.~$})-])\/(?:work|home|root|Users|workspace|builds)\/[\w.-]+/g,
      /https?:\/\/[\w.-]*(?:registry|npm|nexus|artifactory|verdaccio)[\w.-]*/g,
    ];
    const found = projectFiles().flatMap((path) => {
      const text = readFileSync(join(ROOT, path), 'latin1');
      return traces.flatMap((trace) => text.match(trace) ?? []).map((match) => `${path}: ${match}`);
    });
    expect(found).toEqual([]);
  });
});

/** The imports of a file that its room does not allow, with their places. */
function trespassesOf(file: SourceFile): string[] {
  const room = roomOf(file.path);
  if (room === undefined) return [];
  return file.imports
    .filter((found) => !mayImport(room, found.target, found.typeOnly))
    .map((found) => `${file.path}:${found.line} imports ${found.target}${found.typeOnly ? ' (types)' : ''}`);
}

/** Every file of the project that is written by people. */
function projectFiles(): string[] {
  const built = /^(?:node_modules|dist|release|coverage|\.git)(?:\/|$)/;
  return readdirSync(ROOT)
    .filter((name) => !built.test(name))
    .flatMap((name) => filesBelow(name));
}

function filesBelow(path: string): string[] {
  try {
    return readdirSync(join(ROOT, path)).flatMap((name) => filesBelow(`${path}/${name}`));
  } catch {
    return [path];
  }
}

const MAX_COLUMNS = 110;
/** What may make a line too long: texts, regular expressions and the words of JSX. */
const UNBROKEN = ['Literal', 'TemplateLiteral', 'JSXText'];

/**
 * The lines of a file that are too long without their texts and addresses, which the formatter leaves whole.
 */
function longLinesIn(path: string, text: string): string[] {
  const lines = text.split('\n');
  if (lines.every((line) => line.length <= MAX_COLUMNS)) return [];
  const kept = text.split('');
  for (const { type, start, end } of nodesOf(parseSource(path.replace(/mjs$/, 'ts'), text).tree))
    if (UNBROKEN.includes(type))
      for (let at = start; at < Number(end); at += 1) if (kept[at] !== '\n') kept[at] = '';
  let start = 0;
  return lines.flatMap((line, at) => {
    const rest = kept.slice(start, start + line.length).join('');
    start += line.length + 1;
    const isLong = rest.replace(/https?:\/\/\S+/g, '').length > MAX_COLUMNS;
    return line.length > MAX_COLUMNS && isLong ? [`${path}:${at + 1}`] : [];
  });
}
