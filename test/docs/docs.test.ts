import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { PlannedCall } from '../../machines/parts/runbook.ts';
import { operationAt } from '../../src/service/revisions.ts';
import { proseByState } from '../../src/view/prose.ts';
import { fillBlocks } from './blocks.ts';
import { diagramOf } from './diagram.ts';
import { stepTableOf } from './step-table.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'runbooks');
/** What a person who has never seen the runbook looks for first. */
const INTRODUCTION = [
  'Use it',
  'Use another one',
  'How long it takes',
  'What goes on working',
  'What cannot be undone',
];

describe('prose', () => {
  it('every runbook has a machine, and every machine a runbook', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(
      Object.keys(runbooks)
        .map((id) => `${id}.md`)
        .sort(),
    );
  });

  describe.each(Object.values(runbooks))('$id', ({ id, machine }) => {
    const markdown = readFileSync(join(FOLDER, `${id}.md`), 'utf8');
    const prose = proseByState(markdown);
    const states = Object.keys(machine.states);

    it('tells the responder something in every state', () => {
      expect(states.filter((state) => (prose.get(state)?.markdown.length ?? 0) < 20)).toEqual([]);
    });

    it('says enough wherever the responder has to decide', () => {
      const asking = Object.values(machine.states).filter((state) => state.tags.includes('question'));
      expect(asking.length).toBeGreaterThan(0);
      const short = asking.filter(({ key }) => (prose.get(key)?.markdown.length ?? 0) < 80);
      expect(short.map(({ key }) => key)).toEqual([]);
    });

    it('says at its beginning when it is used, how long it takes, what goes on working and what cannot be undone', () => {
      const beginning = markdown.slice(0, markdown.indexOf('<!-- generated:'));
      expect(
        INTRODUCTION.filter(
          (label) => !new RegExp(`\\*\\*${label}:?\\*\\* [*\\w]`).test(unwrapped(beginning)),
        ),
      ).toEqual([]);
    });

    it('loses no section on the way to the screen, and has nothing that the screen does not draw', () => {
      const lost = markdown
        .split(/^(?=#{2,} )/m)
        .slice(1)
        .filter((block) => !/^#{2,3} .+\n<!-- state: /.test(block));
      expect(lost.map((block) => block.split('\n')[0])).toEqual([]);
      const shown = [...prose.values()].map((section) => section.markdown).join('\n');
      expect(shown.match(/^\s*\||!\[|<[a-z]+|&\w+;|~~|^\s*---+\s*$/gm)).toBeNull();
    });

    it('speaks of no state that does not exist, and of none twice', () => {
      const named = [...markdown.matchAll(/<!--\s*state:\s*([^>]*?)\s*-->/g)].flatMap(([, names = '']) =>
        names.split(/[\s,]+/),
      );
      expect(named.filter((name) => !states.includes(name))).toEqual([]);
      expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
    });
  });
});

describe.each(Object.values(runbooks))('what is generated for $id', (runbook) => {
  const { machine } = runbook;

  it('stands in its runbook as the machine is now', () => {
    const markdown = readFileSync(join(FOLDER, `${runbook.id}.md`), 'utf8');
    const blocks = { diagram: diagramOf(machine), steps: stepTableOf(runbook) };
    expect(fillBlocks(markdown, blocks, ['diagram', 'steps'])).toBe(markdown);
  });

  it('names only calls that the service has', () => {
    const calls = Object.values(machine.states).flatMap(
      (state) => (state.meta as { calls?: PlannedCall[] }).calls ?? [],
    );
    const unknown = calls.filter(
      ({ method, path }) => operationAt(method, path) === undefined && path !== '/backups/:id/download',
    );
    expect(unknown.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('draws every state, and every way out of it', () => {
    const diagram = diagramOf(machine);
    for (const [name, state] of Object.entries(machine.states)) {
      expect(diagram).toMatch(new RegExp(`^ {2}state ".+" as ${name}$`, 'm'));
      const events = [...state.transitions.values(), state.always ?? []].flat();
      for (const target of events.flatMap((event) => event.target ?? [])) {
        const drawn = new RegExp(`^ {2}${name} --> ${target.key}( : .+)?$`, 'm').test(diagram);
        const said = new RegExp(
          `^Not drawn: \\*stop\\* leads to \`${target.key}\` from .*\`${name}\``,
          'm',
        ).test(diagram);
        expect(drawn || said, `${name} to ${target.key}`).toBe(true);
      }
    }
  });

  it('draws no state that no way leads to', () => {
    const diagram = diagramOf(machine);
    const led = [/ --> (\w+)/g, /^Not drawn: .* leads to `(\w+)`/gm].flatMap((way) =>
      [...diagram.matchAll(way)].map(([, state]) => state),
    );
    expect(Object.keys(machine.states).filter((state) => !led.includes(state))).toEqual([]);
  });

  it('lists the main path in order, with every call that changes something and its way back', () => {
    const rows = stepTableOf(runbook).split('\n').slice(2);
    expect(rows.map((row) => /`(\w+)`/.exec(row)?.[1])).toEqual(runbook.mainPath);
    const changing = rows.filter((row) => /`(?:POST|PATCH|PUT|DELETE) /.test(row));
    expect(changing.length).toBeGreaterThan(0);
    expect(changing.filter((row) => row.endsWith('|  |'))).toEqual([]);
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
  ])('%s is told', (_, text, sentence) => {
    expect(() => fillBlocks(text, { steps: 'new' }, ['steps'])).toThrow(sentence);
  });
});

function unwrapped(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
