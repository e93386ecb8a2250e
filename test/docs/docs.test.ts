import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { allRunbooks } from '../../machines/index.ts';
import { hasTagAt, leavesOf, mainPathOf, metaAt, nodesAt, stepsOf } from '../../machines/parts/states.ts';
import { operationAt } from '../../src/service/revisions.ts';
import { proseByState, proseOfStates } from '../../src/view/prose.ts';
import { fillBlocks } from './blocks.ts';
import { diagramOf, sendDiagram, sharedDiagrams, sharedPhases } from './diagram.ts';
import { stepTableOf } from './step-table.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'runbooks');
/** What a person who has never seen the runbook looks for first. */
const INTRODUCTION = [
  'Use it',
  'Use another one',
  'How long it takes',
  'What keeps working',
  'What cannot be undone',
];

const shared = proseByState(readFileSync(join(FOLDER, 'phases.md'), 'utf8'));

describe('prose', () => {
  it('every runbook has a machine, and every machine a runbook', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(
      ['phases', ...allRunbooks.map(({ id }) => id)].map((name) => `${name}.md`).sort(),
    );
  });

  describe.each(allRunbooks)('$id', ({ id, machine }) => {
    const markdown = readFileSync(join(FOLDER, `${id}.md`), 'utf8');
    const own = proseByState(markdown);
    const prose = proseOfStates(machine, own, shared);
    const states = leavesOf(machine).filter((state) => isSeen(machine, state));

    it('has a text for the responder in every state', () => {
      expect(states.filter((state) => (prose.get(state)?.markdown.length ?? 0) < 20)).toEqual([]);
    });

    it('explains enough wherever the responder has to decide', () => {
      const asking = states.filter((state) => hasTagAt(machine, state, 'question'));
      expect(asking.length).toBeGreaterThan(0);
      expect(asking.filter((state) => (prose.get(state)?.markdown.length ?? 0) < 80)).toEqual([]);
    });

    it('says at its beginning when to use it, how long it takes, what keeps working and what cannot be undone', () => {
      const beginning = markdown.slice(0, markdown.indexOf('<!-- generated:'));
      expect(
        INTRODUCTION.filter(
          (label) => !new RegExp(`\\*\\*${label}:?\\*\\* [*\\w]`).test(unwrapped(beginning)),
        ),
      ).toEqual([]);
    });

    it('loses no section on the way to the screen, and contains nothing that the screen cannot draw', () => {
      const lost = markdown
        .split(/^(?=#{2,} )/m)
        .slice(1)
        .filter((block) => !/^#{2,3} .+\n<!-- state: /.test(block));
      expect(lost.map((block) => block.split('\n')[0])).toEqual([]);
      const shown = [...own.values()].map((section) => section.markdown).join('\n');
      expect(shown.match(/^\s*\||!\[|<[a-z]+|&\w+;|~~|^\s*---+\s*$/gm)).toBeNull();
    });

    it('describes no state that does not exist, and none twice', () => {
      const named = [...markdown.matchAll(/<!--\s*state:\s*([^>]*?)\s*-->/g)].flatMap(([, names = '']) =>
        names.split(/[\s,]+/),
      );
      const known = [...leavesOf(machine), ...stepsOf(machine).map(({ id }) => id)];
      expect(named.filter((name) => !known.includes(name))).toEqual([]);
      expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
    });
  });
});

describe.each(allRunbooks)('what is generated for $id', (runbook) => {
  const { machine } = runbook;

  it('is in its runbook in its current form', () => {
    const markdown = readFileSync(join(FOLDER, `${runbook.id}.md`), 'utf8');
    const blocks = { diagram: diagramOf(runbook), steps: stepTableOf(runbook) };
    expect(fillBlocks(markdown, blocks, ['diagram', 'steps'])).toBe(markdown);
  });

  it('names only calls that the service has', () => {
    const calls = leavesOf(machine).flatMap((state) => metaAt(machine, state)?.calls ?? []);
    const unknown = calls.filter(
      ({ method, path }) => operationAt(method, path) === undefined && path !== '/backups/:id/download',
    );
    expect(unknown.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('draws every phase once, and every state of each, here or in the shared diagrams', () => {
    const drawn = `${diagramOf(runbook)}\n${sharedDiagrams(allRunbooks)}`;
    for (const { id } of stepsOf(machine))
      expect(drawn).toMatch(new RegExp(`^ {2}state ".+" as ${id}$`, 'm'));
    const own = stepsOf(machine).filter(({ id }) => metaAt(machine, id)?.like === undefined);
    for (const { id } of own)
      for (const inner of Object.keys(machine.states[id]?.states ?? {}))
        expect(drawn).toMatch(new RegExp(`^ {2}state ".+" as ${id}_${inner}$`, 'm'));
  });

  it('draws its phases on one screen, and labels each condition', () => {
    const [whole = ''] = diagramOf(runbook).split('\n\nBlue asks');
    for (const picture of whole.split('```mermaid').slice(1))
      expect(picture.match(/^ {2}state /gm)?.length).toBeLessThanOrEqual(12);
    expect(diagramOf(runbook)).not.toContain('on a condition');
  });

  it('has a row for each state of a run without trouble, with the way back of what it changes', () => {
    const rows = stepTableOf(runbook).split('\n').slice(2);
    expect(rows.map((row) => /`([\w.]+)`/.exec(row)?.[1])).toEqual(mainPathOf(machine));
    const changing = rows.filter((row) => /`(?:POST|PATCH|PUT|DELETE) /.test(row));
    // The steps of a plan send the service nothing.
    expect(changing.length > 0).toBe(runbook.id !== 'plan-step');
    expect(changing.filter((row) => row.endsWith('|  |'))).toEqual([]);
  });
});

describe('what runbooks share', () => {
  const all = allRunbooks;

  it('is drawn from the current machines', () => {
    const markdown = readFileSync(join(FOLDER, 'phases.md'), 'utf8');
    const blocks = { send: sendDiagram(), diagrams: sharedDiagrams(all) };
    expect(fillBlocks(markdown, blocks, ['send', 'diagrams'])).toBe(markdown);
  });

  it('is about phases and states that some machine has', () => {
    const likes = [...sharedPhases(all).keys()];
    const known = all.flatMap(({ machine }) =>
      leavesOf(machine).flatMap((path) => {
        const [phase = '', ...inner] = path.split('.');
        const like = metaAt(machine, phase)?.like;
        return like === undefined ? [] : [path, [like, ...inner].join('.')];
      }),
    );
    expect([...shared.keys()].filter((name) => ![...likes, ...known].includes(name))).toEqual([]);
  });
});

describe('generated blocks', () => {
  const document = 'before\n<!-- generated:steps -->\nold\n<!-- /generated:steps -->\nafter\n';

  it('are replaced between their markers and nowhere else, and the second time nothing changes', () => {
    const filled = fillBlocks(document, { steps: 'new: $1 $&' }, ['steps']);
    expect(filled).toBe('before\n<!-- generated:steps -->\nnew: $1 $&\n<!-- /generated:steps -->\nafter\n');
    expect(fillBlocks(filled, { steps: 'new: $1 $&' }, ['steps'])).toBe(filled);
  });

  it.each([
    ['a missing place', 'text\n', 'has no place for steps'],
    [
      'an unknown name',
      `${document}<!-- generated:typo -->\n<!-- /generated:typo -->`,
      'asks for typo, which nobody generates',
    ],
    ['an open block', 'a\n<!-- generated:steps -->\nold\nafter\n', 'does not close steps'],
    ['crossed markers', document.replace('/generated:steps', '/generated:other'), 'does not close steps'],
  ])('%s is refused', (_, text, sentence) => {
    expect(() => fillBlocks(text, { steps: 'new' }, ['steps'])).toThrow(sentence);
  });
});

/** A person does not see what a run only passes through. */
function isSeen(machine: AnyStateMachine, state: string): boolean {
  return !state.endsWith('.over') && nodesAt(machine, state).at(-1)?.always === undefined;
}

function unwrapped(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
