import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOMS, type Room } from '../architecture/rooms.ts';
import { parseSource, ROOT, roomOf } from '../architecture/source-files.ts';
import { codeIn, commandsIn } from './commands-in.ts';
import { wrongAmong } from './wrong-commands.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const ARCHITECTURE = read('ARCHITECTURE.md');
const SCRIPTS = (JSON.parse(read('package.json')) as { readonly scripts: object }).scripts;

describe.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s', (file) => {
  const text = read(file);
  const code = codeIn(text);

  it('names only paths that exist; of a path with NAME in it, the folder', () => {
    const paths = code.flatMap(pathsIn);
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(join(ROOT, placeOf(path))))).toEqual([]);
  });

  it('links only to documents and headings that exist', () => {
    const links = [...text.matchAll(/\]\(([^)#]*)#?([^)]*)\)/g)];
    expect(links.length).toBeGreaterThan(0);
    const broken = links.filter(([, to = '', heading]) => {
      const target = to === '' ? file : to;
      return !existsSync(join(ROOT, target)) || (heading && !headingsOf(read(target)).includes(heading));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('names only npm scripts and programs of npx that the project has', () => {
    const scripts = code.flatMap((line) =>
      [...line.matchAll(/\bnpm (?:run (?:--silent )?)?(?!run\b)([\w:-]+)/g)].map(([, name = '']) => name),
    );
    expect(scripts.length).toBeGreaterThan(3);
    expect(scripts.filter((name) => name !== 'ci' && !Object.hasOwn(SCRIPTS, name))).toEqual([]);
    const programs = code.flatMap((line) => [...line.matchAll(/\bnpx (\S+)/g)].map(([, name = '']) => name));
    expect(programs.filter((name) => !existsSync(join(ROOT, 'node_modules', '.bin', name)))).toEqual([]);
  });

  it('names only existing commands of lifeboat, with their flags', async () => {
    const commands = commandsIn(text);
    expect(commands.length).toBeGreaterThan(0);
    expect(await wrongAmong(commands)).toEqual([]);
  });
});

const PAGES = ['docs', 'runbooks'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file)),
);

/** `docs/commands.md` repeats the help texts, which are paragraphs. */
const GENERATED = ['docs/commands.md'];

it.each(
  ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...PAGES].filter(
    (file) => !GENERATED.includes(file),
  ),
)('%s has one sentence a line, in tables as well', (file) => {
  const written = read(file)
    .replaceAll(/<!-- generated[\s\S]*?<!-- \/generated[^>]*-->/g, '')
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  const several = written
    .split('\n')
    .filter((line) => !line.startsWith('    '))
    .filter((line) => /[a-z0-9`)]\. [A-Z`]/.test(line.replace(/^\s*\d+\. /, '')));
  expect(several).toEqual([]);
});

describe('the way of a call', () => {
  const steps = [...ARCHITECTURE.matchAll(/^\d+\. `([\w./-]+)` (.+)$/gm)].map(([, file = '', text = '']) => ({
    file,
    text,
  }));
  const pairs = steps
    .slice(1)
    .map(({ file: next }, at) => ({ ...(steps[at] ?? { file: '', text: '' }), next }));

  it('begins at the entry point and ends where the journal is written', () => {
    expect(steps.at(0)?.file).toBe('src/cli.ts');
    expect(steps.at(-1)?.file).toBe('src/store/sqlite/write.ts');
    expect(steps.length).toBeGreaterThan(15);
  });

  it.each(pairs)(
    'leads from $file to $next by an import, or by a file that passes it on',
    ({ file, text, next }) => {
      const [said, giver] = /(?:`([\w./-]+)` )?hands to `[\w./-]+`/.exec(text) ?? [];
      if (said === undefined) return expect(importsOf(file)).toContain(next);
      expect(said).toContain(`hands to \`${next}\``);
      // Who is named as the giver knows the next file; who hands on what it was given itself does not.
      if (giver !== undefined) expect(importsOf(giver)).toContain(next);
      else expect(importsOf(file)).not.toContain(next);
    },
  );
});

describe('the table of rooms', () => {
  const rows = [...ARCHITECTURE.matchAll(/^\| `([^`]+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$/gm)];

  it('has the rooms of the architecture test, in their order, and no others', () => {
    expect(rows.map(([, name]) => name)).toEqual(ROOMS.map(nameOf));
  });

  it.each(ROOMS)('lists what $files may import', (room) => {
    const [, , rooms, packages] = rows.find(([, name]) => name === nameOf(room)) ?? [];
    const isAll = room.rooms.includes('*');
    expect(rooms).toBe(isAll ? 'everything' : listed(room.rooms.map(inRooms)) || 'nothing');
    expect(packages).toBe(isAll ? 'any' : listed(room.packages) || 'none');
  });
});

/** What of a line of code is a path of this project: something with a folder, or a file at the root. */
function pathsIn(code: string): string[] {
  const isPath = /^\.?[\w.-]+(?:\/[\w.-]+)*(?:\/|\/[\w.-]+|\.(?:json|md|mjs|tsx?|yaml))$/;
  return code.split(/\s+/).filter((word) => isPath.test(word));
}

/** The part of a path before what its reader chooses. */
function placeOf(path: string): string {
  const parts = path.split('/');
  const chosen = parts.findIndex((part) => part.includes('NAME'));
  return chosen === -1 ? path : parts.slice(0, chosen).join('/');
}

/** The headings of a document as links name them. */
function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, words = '']) =>
    words
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The files whose code a file loads, at once or later. */
function importsOf(file: string): string[] {
  return parseSource(file, read(file))
    .imports.filter(({ typeOnly }) => !typeOnly)
    .map(({ target }) => target);
}

function nameOf({ files }: Room): string {
  return files.replace(/\/\*\*$/, '');
}

/** The room that an allowed file or folder is in, by its name. */
function inRooms(allowed: string): string {
  const [, types = '', place = ''] = /^(type )?(.*)$/.exec(allowed) ?? [];
  const room = roomOf(place.endsWith('.ts') ? place : join(place, 'any.ts'));
  return `${types}${room === undefined ? place : nameOf(room)}`;
}

/** What is allowed, each once and in order; `types of` it where nothing else of it may be imported. */
function listed(allowed: readonly string[]): string {
  const values = allowed.filter((one) => !one.startsWith('type '));
  const all = allowed.map((one) => one.replace(/^type /, ''));
  return [...new Set(all)]
    .sort()
    .map((one) => `${values.includes(one) ? '' : 'types of '}\`${one}\``)
    .join(', ');
}
