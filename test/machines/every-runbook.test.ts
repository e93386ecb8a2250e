import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { RUNBOOK_IDS } from '../../machines/parts/touches.ts';
import { chaptersFor } from '../../src/commands/drill/chapters.ts';
import { SCENES } from '../crash/scenes.ts';
import { FLOWS } from '../faults/flows.ts';

/** All but the one that a command starts by itself; its errands stand in the crash suite. */
const OFFERED = RUNBOOK_IDS.filter((id) => id !== 'single-change' && id !== 'plan-step');

/** The runbooks that these arguments of `lifeboat run` are about. */
function runbooksIn(flows: readonly { readonly name: string }[]): ReadonlySet<string> {
  const ids: readonly string[] = OFFERED;
  return new Set(flows.map(({ name }) => name.split(/[ /,]/u)[0] ?? '').map(nameOf));

  /** The names of the crash suite have the flags in them. */
  function nameOf(word: string): string {
    return (
      ids.find(
        (id) =>
          word === id || word.startsWith(`${id}-`) || word.startsWith(`${id}+`) || word.startsWith(`${id}@`),
      ) ?? word
    );
  }
}

const ALL = new Set<string>(OFFERED);

test('every runbook is registered under its own id', () => {
  expect(Object.entries(runbooks).map(([name, { id }]) => [name, id])).toEqual(
    Object.keys(runbooks).map((id) => [id, id]),
  );
  expect(new Set(Object.keys(runbooks))).toEqual(ALL);
});

test('every runbook is run with every fault', () => {
  expect(runbooksIn(FLOWS)).toEqual(ALL);
});

test('every runbook is killed at every point', () => {
  const runs = SCENES.filter(({ errand }) => errand === undefined);
  expect(runbooksIn(runs)).toEqual(ALL);
});

test.each(OFFERED)('%s can be rehearsed by itself', (runbook) => {
  const chapters = chaptersFor({ runbook, scenario: undefined, revision: '62' });
  expect(chapters.map((chapter) => chapter.runbook)).toEqual([runbook]);
});
