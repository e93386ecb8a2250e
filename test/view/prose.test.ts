import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildProse, readBuiltProse } from '../../src/compose/built-prose.ts';
import { proseOf, runbookNamed } from '../../src/compose/runbook-files.ts';
import { layOver, type ProseSection, proseByState, tokensOf } from '../../src/view/prose.ts';

const RUNBOOKS = join(import.meta.dirname, '../../runbooks');

const RUNBOOK = proseByState(`# A runbook

An introduction that only readers of the file see.

## Confirm by name
<!-- state: confirming -->

Type the name.

## Wait
<!-- state: waiting, looking -->

It takes a while.
`);

describe("a team's own text", () => {
  it('is placed above the text of the runbook for that state, and hides none of it', () => {
    const laid = layOver(
      RUNBOOK,
      proseByState('## Ask Ana\n<!-- state: confirming -->\n\nAna must agree: 555-0100.\n'),
    );
    expect(laid.get('confirming')).toEqual({
      title: 'Confirm by name',
      markdown: '**Ask Ana**\n\nAna must agree: 555-0100.\n\nType the name.',
    });
    expect(laid.get('waiting')).toEqual(RUNBOOK.get('waiting'));
  });

  it('is placed below the text of every state where it is marked with a star, and is not a state itself', () => {
    const laid = layOver(RUNBOOK, proseByState('## Who to call\n<!-- state: * -->\n\nOn call: 555-0199.\n'));
    expect([...laid.keys()]).toEqual(['confirming', 'waiting', 'looking']);
    for (const [state, { title, markdown }] of laid) {
      expect(title).toBe(RUNBOOK.get(state)?.title);
      expect(markdown).toBe(`${RUNBOOK.get(state)?.markdown}\n\n**Who to call**\n\nOn call: 555-0199.`);
    }
  });

  it('can have two sections for one state, and neither is lost', () => {
    const team =
      '## Ask Ana\n<!-- state: confirming -->\n555-0100\n\n## Then Bo\n<!-- state: confirming -->\n555-0101\n';
    expect(layOver(RUNBOOK, proseByState(team)).get('confirming')?.markdown).toBe(
      '**Ask Ana**\n\n555-0100\n\n**Then Bo**\n\n555-0101\n\nType the name.',
    );
  });

  it('stands alone where the runbook has no text', () => {
    const laid = layOver(new Map(), proseByState('## Ours\n<!-- state: open -->\n\nCall the shop.\n'));
    expect(laid.get('open')).toEqual({ title: 'Ours', markdown: 'Call the shop.' });
  });

  it('leaves the runbook unchanged where the team has no text', () => {
    expect(layOver(RUNBOOK, new Map())).toEqual(RUNBOOK);
  });

  it('is read from the folder of the config, for the runbook that its file is named after', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lifeboat-prose-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'rotate-key.md'), '## Ours\n<!-- state: confirm -->\n\nCall Ana first.\n');
    const runbook = runbookNamed('rotate-key');
    const own = await proseOf(runbook);
    const laid = await proseOf(runbook, folder);
    expect(laid.get('confirm.asking')?.markdown).toBe(
      `**Ours**\n\nCall Ana first.\n\n${own.get('confirm.asking')?.markdown}`,
    );
    expect(laid.get('done')).toEqual(own.get('done'));
    expect(
      (await proseOf(runbookNamed('restore-backup'), folder)).get('confirm.asking')?.markdown,
    ).not.toContain('Ana');
  });

  it('may lack its folder: a recovery continues with the built-in text', async () => {
    const runbook = runbookNamed('rotate-key');
    expect(await proseOf(runbook, join(tmpdir(), 'lifeboat-no-such-folder'))).toEqual(await proseOf(runbook));
  });
});

describe('the prose that the build prepares', () => {
  it.each(readdirSync(RUNBOOKS))(
    'equals for %s what reading the file gives, and is not used for any other text',
    (name) => {
      const markdown = readFileSync(join(RUNBOOKS, name), 'utf8');
      const built = readBuiltProse(buildProse(markdown), markdown);
      const read = [...proseByState(markdown)].map(([state, section]): [string, ProseSection] => [
        state,
        { ...section, tokens: tokensOf(section.markdown) },
      ]);
      expect(built).toEqual(new Map(read));
      expect(readBuiltProse(buildProse(markdown), `${markdown}\n`)).toBeUndefined();
    },
  );
});

describe('the sections of a runbook', () => {
  it('do not end at code that looks like a heading or a mark', () => {
    const text = '```sh\n## restart it\ncf restart app # <!-- state: other -->\n```\n\nThen wait.';
    const sections = proseByState(`## Ours\n<!-- state: waiting -->\n${text}\n`);
    expect([...sections]).toEqual([['waiting', { title: 'Ours', markdown: text }]]);
  });

  it('are those with a mark, listed under each state that the mark names', () => {
    expect([...RUNBOOK]).toEqual([
      ['confirming', { title: 'Confirm by name', markdown: 'Type the name.' }],
      ['waiting', { title: 'Wait', markdown: 'It takes a while.' }],
      ['looking', { title: 'Wait', markdown: 'It takes a while.' }],
    ]);
  });
});
