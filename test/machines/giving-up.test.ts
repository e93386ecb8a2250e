import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allRunbooks } from '../../machines/index.ts';
import type { StateMeta } from '../../machines/parts/runbook.ts';
import { leavesOf, nodesAt } from '../../machines/parts/states.ts';
import { givenUp } from '../../machines/setup.ts';
import { proseByState, proseOfStates } from '../../src/view/prose.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'runbooks');

// A step of a plan waits for nothing of the service.
const WAITING = allRunbooks.filter(({ id }) => id !== 'plan-step');

describe.each(WAITING)('giving up a wait of $id', ({ id, machine }) => {
  const read = (file: string) => proseByState(readFileSync(join(FOLDER, file), 'utf8'));
  const prose = proseOfStates(machine, read(`${id}.md`), read('phases.md'));
  const led = leavesOf(machine).flatMap((path) => {
    const [node] = nodesAt(machine, path).slice(-1);
    const found = (node?.transitions.get('operator.giveUp') ?? []).flatMap(({ target = [] }) => target);
    return found.map((state) => [state.path.join('.'), state] as const);
  });

  test('leads somewhere', () => {
    expect(led.length).toBeGreaterThan(0);
  });

  test.each(led)(
    'leads to %s, which claims nothing that was not seen, and says what is safe',
    (key, state) => {
      const { title } = state.meta as StateMeta<never, never>;
      const section = prose.get(key);
      for (const words of [title, section?.title ?? ''])
        expect(words).not.toMatch(/cannot be seen|is not available/);
      expect(title).toContain('not known');
      expect(section?.markdown.replace(/\s+/g, ' ')).toMatch(/you gave up waiting/iu);
      expect(section?.markdown.replace(/\s+/g, ' ')).toMatch(
        /[Nn]othing (else|more) is sent|no other restore is sent/,
      );
    },
  );
});

test('an abandoned wait says what was waited for, and which ways are safe', () => {
  const { shortMessage, hints } = givenUp('the restore');
  expect(shortMessage).toBe('you gave up waiting for the restore; the service may still go on with it');
  expect(hints).toEqual([
    'trying again waits for the restore again, and sends nothing',
    'leaving is safe as well: `lifeboat resume` goes on from here',
    'the dashboard shows its state',
  ]);
});
