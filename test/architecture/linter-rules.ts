import { dirname, relative } from 'node:path';
import { ROOMS, type Room } from './rooms.ts';
import { roomOf } from './source-files.ts';

/** What machines must not name, beside what they must not import. */
const IMPURE = [
  'Date',
  'console',
  'crypto',
  'fetch',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
];

/**
 * The overrides of `.biome.json` that say what the table says: one for each folder of each room, since a rule
 * sees a path as it is written and not where it leads. `paths` are the files of the product.
 */
export function linterRules(paths: readonly string[]): readonly object[] {
  return ROOMS.filter(({ rooms }) => !rooms.includes('*')).flatMap((room) => {
    const inside = paths.filter((path) => roomOf(path) === room);
    const folders = [...new Set(inside.map((path) => dirname(path)))].sort();
    return folders.map((folder) => ruleOf(room, folder, inside, paths));
  });
}

function ruleOf(room: Room, folder: string, inside: readonly string[], paths: readonly string[]): object {
  const own = ownPlaces(inside).map((place) => from(folder, place));
  // Files of other rooms may lie in the same folder.
  const foreign = paths.filter((path) => dirname(path) === folder && roomOf(path) !== room);
  const allowed = [
    ...room.packages.map(bare).flatMap((name) => [name, `${name}/**`]),
    ...room.node.map(bare).flatMap((name) => [`node:${name}`, `node:${name}/**`]),
    ...room.rooms.map(bare).flatMap((place) => [from(folder, place.endsWith('.ts') ? place : `${place}/**`)]),
  ];
  const group = [
    '**',
    ...own.map((pattern) => `!${pattern}`),
    ...foreign.map((path) => from(folder, path)),
    ...allowed.map((pattern) => `!${pattern}`),
  ];
  const imports = { level: 'error', options: { patterns: [{ group, message: room.why }] } };
  const globals = {
    level: 'error',
    options: { deniedGlobals: Object.fromEntries(IMPURE.map((name) => [name, room.why])) },
  };
  const isMachine = room.files.startsWith('machines/') && !room.files.startsWith('machines/parts');
  const style = { noRestrictedImports: imports, ...(isMachine ? { noRestrictedGlobals: globals } : {}) };
  const [, tail] = /^.*?(\/\*\*)$/u.exec(room.files) ?? [];
  return {
    includes: [tail === undefined ? room.files : `${folder}/*.{ts,tsx}`],
    linter: { rules: { style } },
  };
}

/** The folders that a room is made of, each by itself: `../**` would lead out of the room again. */
function ownPlaces(inside: readonly string[]): readonly string[] {
  return [...new Set(inside.map((path) => `${dirname(path)}/*`))].sort();
}

function bare(allowed: string): string {
  return allowed.replace(/^type /u, '');
}

/** A place as a file of the folder writes it in an import. */
function from(folder: string, place: string): string {
  const path = relative(folder, place);
  return path.startsWith('.') ? path : `./${path}`;
}
