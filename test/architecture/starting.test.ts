import { describe, expect, it } from 'vitest';
import { readSourceFiles } from './source-files.ts';

/*
 * What is loaded with a part of the program, before its first line runs; `import()` is loaded when it is
 * called. What is heavy stays behind one, so that no command waits for what another needs.
 */

const FILES = new Map(readSourceFiles().map((file) => [file.path, file]));

/** The file of each command. */
const COMMANDS = [...FILES.values()]
  .filter(({ path }) => path === 'src/cli/program.ts' || /\/define-[\w-]+\.ts$/.test(path))
  .flatMap(({ imports }) => imports.filter(({ late }) => late).map(({ target }) => target));

const SCREENS = 'src/tui/screens/';

/** These read or make a run with its machine. */
const WITH_MACHINES = [
  'src/commands/doctor/doctor.ts',
  'src/commands/drill/drill.ts',
  'src/commands/evidence/evidence.ts',
  'src/commands/plans/check.ts',
  'src/commands/plans/decide.ts',
  'src/commands/plans/fallback.ts',
  'src/commands/plans/run.ts',
  'src/commands/receipt.ts',
  'src/commands/report.ts',
  'src/commands/run/resume.ts',
  'src/commands/run/run.ts',
  'src/commands/run/watch.ts',
  'src/commands/serve/serve.ts',
  'src/commands/service/change-backups.ts',
  'src/commands/service/config.ts',
  'src/commands/service/dr.ts',
  'src/commands/service/instance.ts',
  'src/commands/service/pitr.ts',
  'src/commands/worker/worker.ts',
];

describe('what is loaded at once', () => {
  it('is no package before the first frame is painted, and two packages with the command line parser', () => {
    expect(packagesOf('src/cli/start.ts')).toEqual([]);
    expect(packagesOf('src/cli/main.ts')).toEqual([]);
    expect(packagesOf('src/cli/program.ts')).toEqual(['commander', 'fastest-levenshtein']);
  });

  it('does not include, for any command, what draws the screen, reads prose and dates, or sends requests', () => {
    expect(COMMANDS.length).toBeGreaterThan(30);
    const heavy = new Set(['chrono-node', 'ink', 'marked', 'react', 'tough-cookie', 'undici']);
    const loading = COMMANDS.filter((command) => packagesOf(command).some((name) => heavy.has(name)));
    expect(loading).toEqual([]);
  });

  it('includes no neighbouring screen with the screen of a run', () => {
    const screens = [...loadedWith('src/tui/show-run.ts')].filter((path) => path.startsWith(SCREENS));
    const names = new Set(screens.map((path) => path.slice(SCREENS.length).split('/')[0]));
    expect([...names].sort()).toEqual(['entry', 'help', 'index.ts', 'notice', 'palette', 'run']);
  });

  it('includes nothing that changes an instance, and at most 90 files, to list backups', () => {
    const loaded = [...loadedWith('src/commands/service/backups.ts')].filter((path) => FILES.has(path));
    expect(loaded.filter((path) => /\/(?:change[^/]*|approvals\/.*|runner\/.*)\.ts$/u.test(path))).toEqual(
      [],
    );
    expect(loaded.length).toBeLessThanOrEqual(90);
  });

  it('includes the runbooks only for the commands of the list', () => {
    const loading = COMMANDS.filter((command) => {
      return loadedWith(command).has('machines/index.ts');
    });
    expect([...new Set(loading)].sort()).toEqual(WITH_MACHINES);
  });
});

function packagesOf(path: string): string[] {
  return [...loadedWith(path)].filter((target) => /^(?!node:)[^./]+$|^@/.test(target)).sort();
}

/** Every file and package that is loaded with a file. */
function loadedWith(path: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(path)) return loaded;
  loaded.add(path);
  for (const { target, typeOnly, late } of FILES.get(path)?.imports ?? [])
    if (!typeOnly && !late) loadedWith(target, loaded);
  return loaded;
}
