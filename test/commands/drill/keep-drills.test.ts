import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newDrillHome } from '../../../src/commands/drill/drill-homes.ts';
import {
  beginRecord,
  beyond,
  foreignIn,
  oldDrills,
  remainsIn,
  removeDrill,
} from '../../../src/commands/drill/drill-records.ts';
import type { DrillRecord } from '../../../src/report/drill/drill-report.ts';
import { drillAt } from '../../report/drill/drills.ts';

const day = (at: number) => `2026-03-${String(at).padStart(2, '0')}T00:00:00Z`;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'lifeboat-keep-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A folder as a drill leaves it. */
function leave(parent: string, record: DrillRecord, name: string = record.id): string {
  const home = join(parent, name);
  mkdirSync(home);
  writeFileSync(join(home, 'drill.json'), JSON.stringify(record));
  writeFileSync(join(home, 'lifeboat.db'), 'a journal');
  return home;
}

const namesOf = (drills: readonly { readonly record: DrillRecord }[]) =>
  drills.map(({ record }) => record.id);

test('the oldest drills are deleted first, and a fixed number is kept', () => {
  const parent = folder();
  const records = [3, 1, 4, 2].map((at) => drillAt(day(at)));
  for (const record of records) leave(parent, record);
  const newest = join(parent, '20260304-000000');
  expect(namesOf(beyond(newest, 2))).toEqual(['20260301-000000', '20260302-000000']);
  expect(namesOf(beyond(newest, 4))).toEqual([]);
  expect(namesOf(beyond(newest, 9))).toEqual([]);
});

test('the drill that has just ended is always kept, whatever its outcome and whatever the clock says', () => {
  const parent = folder();
  const failed = leave(parent, drillAt(day(1), { outcome: 'failed' }));
  expect(beyond(failed, 1)).toEqual([]);
  for (const at of [2, 3]) leave(parent, drillAt(day(at), { outcome: 'failed' }));
  expect(namesOf(beyond(failed, 1))).toEqual(['20260302-000000', '20260303-000000']);
  expect(namesOf(beyond(failed, 2))).toEqual(['20260302-000000']);
  expect(namesOf(beyond(failed, 3))).toEqual([]);
});

test('a drill dated in the future is kept, and does not count towards the number that is kept', () => {
  const parent = folder();
  for (const year of [2098, 2099]) leave(parent, drillAt(`${year}-01-01T00:00:00Z`));
  leave(parent, drillAt(day(1)));
  const current = leave(parent, drillAt(day(2), { outcome: 'failed' }));
  expect(beyond(current, 2)).toEqual([]);
  expect(namesOf(oldDrills(parent))).toEqual(['20260302-000000']);
});

test('a drill with a foreign file beside it is kept, even if the file is beside the report of a run', () => {
  const parent = folder();
  const [notes, scan] = [1, 2].map((at) => leave(parent, drillAt(day(at)))) as [string, string];
  leave(parent, drillAt(day(3)));
  const current = leave(parent, drillAt(day(4)));
  mkdirSync(join(notes, 'mine'));
  const run = join('reports', '01M8AGV0EFN4170N28J60PFNQ5');
  mkdirSync(join(scan, run), { recursive: true });
  for (const name of ['report.html', 'signed.pdf']) writeFileSync(join(scan, run, name), 'a report');
  expect(foreignIn(notes)).toEqual(['mine']);
  expect(foreignIn(scan)).toEqual([join(run, 'signed.pdf')]);
  expect(namesOf(beyond(current, 1))).toEqual(['20260303-000000']);
  expect(() => removeDrill({ path: scan }, parent)).toThrow('what no drill has made: reports/');
  expect(existsSync(join(scan, 'lifeboat.db'))).toBe(true);
});

test('the remains of a killed drill are not taken for foreign files', () => {
  const home = leave(folder(), drillAt(day(1), { outcome: 'running' }));
  for (const name of [
    'drill.lock',
    'drill.lock-journal',
    'drill.json.1234',
    'lifeboat.db-wal',
    'report.html',
  ])
    writeFileSync(join(home, name), '');
  for (const name of ['backups', 'checkpoints', 'fallback', 'locks', 'transcripts'])
    mkdirSync(join(home, name, 'orders'), { recursive: true });
  expect(foreignIn(home)).toEqual([]);
});

test('the newest proven drill is always kept, however many failed after it', () => {
  const parent = folder();
  leave(parent, drillAt(day(1)));
  for (const at of [2, 3, 4]) leave(parent, drillAt(day(at), { outcome: 'failed' }));
  const newest = join(parent, '20260304-000000');
  expect(namesOf(beyond(newest, 1))).toEqual(['20260302-000000', '20260303-000000']);
  expect(namesOf(beyond(newest, 2))).toEqual(['20260302-000000', '20260303-000000']);
  expect(namesOf(beyond(newest, 3))).toEqual(['20260302-000000']);
});

test('only a folder known to be that of a finished drill is ever named for deletion', async () => {
  const [parent, elsewhere] = [folder(), folder()];
  const newest = leave(parent, drillAt(day(9)));
  mkdirSync(join(parent, 'evidence'));
  leave(parent, drillAt(day(1)), 'my-drill');
  leave(parent, drillAt(day(2)), '20260305-000000');
  mkdirSync(join(parent, '20260306-000000'));
  writeFileSync(join(parent, '20260307-000000'), 'a file');
  mkdirSync(join(parent, '20260308-000000'));
  writeFileSync(join(parent, '20260308-000000', 'drill.json'), '{"schema":"something else"}');
  symlinkSync(leave(elsewhere, drillAt(day(3))), join(parent, '20260303-000000'));
  const running = join(parent, '20260304-000000');
  mkdirSync(running);
  const open = await beginRecord(running, { scope: 'full', revision: '62', version: '1' });
  expect(beyond(newest, 1)).toEqual([]);

  open.release();
  expect(namesOf(beyond(newest, 1))).toEqual(['20260304-000000']);
});

test('removing a drill removes its link too, and nothing else', () => {
  const [parent, links] = [folder(), folder()];
  const [gone, stays] = [1, 2].map((at) => leave(parent, drillAt(day(at)))) as [string, string];
  for (const home of [gone, stays]) symlinkSync(home, join(links, home.slice(parent.length + 1)));
  for (const old of beyond(stays, 1)) removeDrill(old, links);
  expect(readdirSync(parent)).toEqual(['20260302-000000']);
  expect(readdirSync(links)).toEqual(['20260302-000000']);
  expect(existsSync(join(stays, 'lifeboat.db'))).toBe(true);
});

test('a drill is removed with its link even where its folder was reached through a link', () => {
  const [parent, home, elsewhere] = [folder(), folder(), folder()];
  const typed = join(elsewhere, 'evidence');
  symlinkSync(parent, typed);
  const made = newDrillHome({ LIFEBOAT_HOME: home }, typed);
  const link = join(home, 'drills', basename(made));
  expect([dirname(made), realpathSync(link)]).toEqual([typed, realpathSync(made)]);
  removeDrill({ path: made }, join(home, 'drills'));
  expect([readdirSync(parent), readdirSync(join(home, 'drills'))]).toEqual([[], []]);
});

test('two drills of the same second can both be found again, wherever they are', () => {
  const [home, one, other] = [folder(), folder(), folder()];
  const made = [one, other].flatMap((parent) =>
    [1, 2].map(() => newDrillHome({ LIFEBOAT_HOME: home }, parent)),
  );
  const drills = join(home, 'drills');
  const linked = readdirSync(drills).map((name) => readlinkSync(join(drills, name)));
  expect(linked.toSorted()).toEqual(made.toSorted());
  for (const name of readdirSync(drills)) expect(basename(readlinkSync(join(drills, name)))).toBe(name);
});

test('a drill whose folder is named by way of a link to the drills needs no link', () => {
  const [home, elsewhere] = [folder(), folder()];
  mkdirSync(join(home, 'drills'));
  symlinkSync(join(home, 'drills'), join(elsewhere, 'evidence'));
  const made = newDrillHome({ LIFEBOAT_HOME: home }, join(elsewhere, 'evidence'));
  expect(readdirSync(join(home, 'drills'))).toEqual([basename(made)]);
});

test('the remains of an interrupted removal no longer count as a drill, and nothing else is taken for such remains', () => {
  const parent = folder();
  const left = leave(parent, drillAt(day(1)), '20260301-000000.removing');
  mkdirSync(join(parent, 'mine.removing'));
  mkdirSync(join(parent, '20260302-000000.removing'));
  writeFileSync(join(parent, '20260302-000000.removing', 'x'), 'notes');
  expect(oldDrills(parent)).toEqual([]);
  expect(remainsIn(parent)).toEqual([left]);
});
