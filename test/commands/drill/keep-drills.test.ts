import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { beginRecord } from '../../../src/commands/drill/drill-records.ts';
import { beyond, finishRemovals, removeDrill } from '../../../src/commands/drill/keep-drills.ts';
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

test('the oldest drills go first, and so many stay', () => {
  const parent = folder();
  const records = [3, 1, 4, 2].map((at) => drillAt(day(at)));
  for (const record of records) leave(parent, record);
  expect(namesOf(beyond(parent, 2))).toEqual(['20260301-000000', '20260302-000000']);
  expect(namesOf(beyond(parent, 4))).toEqual([]);
  expect(namesOf(beyond(parent, 9))).toEqual([]);
});

test('the newest proven drill always stays, however many failed after it', () => {
  const parent = folder();
  leave(parent, drillAt(day(1)));
  for (const at of [2, 3, 4]) leave(parent, drillAt(day(at), { outcome: 'failed' }));
  expect(namesOf(beyond(parent, 1))).toEqual(['20260302-000000', '20260303-000000', '20260304-000000']);
  expect(namesOf(beyond(parent, 2))).toEqual(['20260302-000000', '20260303-000000']);
});

test('only what is known to be the folder of a drill that is over is ever named', async () => {
  const [parent, elsewhere] = [folder(), folder()];
  leave(parent, drillAt(day(9)));
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
  expect(beyond(parent, 1)).toEqual([]);

  open.release();
  expect(namesOf(beyond(parent, 1))).toEqual(['20260304-000000']);
});

test('a removed drill goes with its link, and nothing else does', () => {
  const [parent, links] = [folder(), folder()];
  const [gone, stays] = [1, 2].map((at) => leave(parent, drillAt(day(at)))) as [string, string];
  for (const home of [gone, stays]) symlinkSync(home, join(links, home.slice(parent.length + 1)));
  for (const old of beyond(parent, 1)) removeDrill(old, links);
  expect(readdirSync(parent)).toEqual(['20260302-000000']);
  expect(readdirSync(links)).toEqual(['20260302-000000']);
  expect(existsSync(join(stays, 'lifeboat.db'))).toBe(true);
});

test('what a removal that was cut off has left is no drill any more, and goes with the next one', () => {
  const parent = folder();
  leave(parent, drillAt(day(1)), '20260301-000000.removing');
  mkdirSync(join(parent, 'mine.removing'));
  expect(beyond(parent, 1)).toEqual([]);
  finishRemovals(parent);
  expect(readdirSync(parent)).toEqual(['mine.removing']);
});
