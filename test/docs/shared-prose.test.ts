import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { initialContext } from '../../machines/context.ts';
import { allRunbooks } from '../../machines/index.ts';
import { leavesOf, metaAt, stepOf } from '../../machines/parts/states.ts';
import { type ProseSection, proseByState, proseOfStates } from '../../src/view/prose.ts';
import { ROOT } from '../architecture/source-files.ts';

const read = (name: string) => proseByState(readFileSync(join(ROOT, 'runbooks', `${name}.md`), 'utf8'));
const SHARED = read('phases');
const SHOWN = allRunbooks.map(({ id, machine }) => {
  const own = read(id);
  return { id, machine, own, all: proseOfStates(machine, own, SHARED) };
});

/** What a text may speak of only where the runbook has a phase like one of these. */
const SUBJECTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\bwith the new key\b|\bthe new key (?:is|was)\b/i, ['key']],
  [/\bencryption key is replaced\b/i, ['key', 'change']],
  [/\brestored data\b|\bthe restore has ended\b|\bbefore the restore\b/i, ['restore']],
  [/\b(?:type|typed|asked for) the name\b|\bto confirm\b/i, ['confirm', 'confirmKey']],
  [/\bbind|\bbound\b|\brestage/i, ['follow-ups']],
  [/\b(?:the|a|no new) card\b/i, ['card', 'renew-card']],
  [/\bthe target\b/i, ['target']],
  [/\bpresent state\b/i, ['safeguard']],
];

describe.each(SHOWN)('the common text that $id shows', ({ machine, all, own }) => {
  const phases = phasesOf(machine);
  const shared = [...all].filter(([, section]) => ![...own.values()].includes(section));

  it('describes only what this runbook does', () => {
    const wrong = shared.flatMap(([state, section]) =>
      SUBJECTS.filter(
        ([pattern, needs]) => pattern.test(textOf(section)) && !needs.some((one) => phases.has(one)),
      ).map(([pattern]) => `${state}: ${section.title}: ${pattern}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe.each(SHOWN)('the questions in the text of $id', ({ machine, all }) => {
  it('ask for the path of a file exactly where a run takes one', () => {
    const differing = [...all].flatMap(([state, { markdown }]) => {
      const says = /enter the path of the file/.test(markdown);
      return says === takesPath(machine, state) ? [] : [state];
    });
    expect(differing).toEqual([]);
  });
});

it('every common text is shown by at least one runbook', () => {
  const shown = new Set(SHOWN.flatMap(({ all }) => [...all.values()]));
  expect([...SHARED.values()].filter((section) => !shown.has(section))).toEqual([]);
});

/** The phases of a runbook, and which shared ones they are. */
function phasesOf(machine: AnyStateMachine): ReadonlySet<string> {
  return new Set(
    leavesOf(machine).flatMap((state) => {
      const phase = stepOf(state);
      return [phase, metaAt(machine, phase)?.like ?? phase];
    }),
  );
}

/** Whether one of the answers in a state is the path of a file. */
function takesPath(machine: AnyStateMachine, state: string): boolean {
  const question = metaAt(machine, state)?.question?.(CONTEXT as never);
  return JSON.stringify(question ?? {}).includes('path of the file that you downloaded');
}

const CONTEXT = initialContext('rotate-key', { instance: 'orders' });

function textOf({ title, markdown }: ProseSection): string {
  return `${title}\n${markdown}`;
}
