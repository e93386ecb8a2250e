import { describe, expect, test } from 'vitest';
import { journalScreen } from '../../../src/tui/screens/journal/journal.ts';
import { ENTRIES_A_PAGE, type EntriesPage, entryRows } from '../../../src/view/app/entries-page.ts';
import { shown } from './screen-bench.ts';

const HOSTILE = 'ev\u001b[31mil \u202e注文 שלום';

function pageOf(first: number, count: number, size: number): EntriesPage {
  const entries = Array.from({ length: count }, (_, at) => ({
    index: first + at,
    stream: 'run/01KAJ8V7Q2M4X9T3R5W6Y8Z0BC' as const,
    seq: first + at + 1,
    at: '2026-11-23T11:00:00.000Z',
    by: HOSTILE,
    type: 'run.detached',
    body: JSON.stringify({ why: `left ${first + at}` }),
    hash: 'ab'.repeat(32),
  }));
  return { rows: entryRows(entries).toReversed(), first, size, anchor: 'lifeboat:x:1:y:z' };
}

describe('the journal', () => {
  const SIZE = 3 * ENTRIES_A_PAGE + 5;
  const answers = {
    entries: () => pageOf(2 * ENTRIES_A_PAGE, ENTRIES_A_PAGE + 5, SIZE),
    olderEntries: ({ page }: { readonly page: number }) =>
      pageOf(page * ENTRIES_A_PAGE, ENTRIES_A_PAGE, SIZE),
  };
  const pagesIn = (one: ReturnType<typeof shown>) =>
    one.screen.needs().flatMap((need) => (need.source === 'olderEntries' ? [need.of.page] : []));

  test('fits every size, as a list, with one entry in full and with an audit', () => {
    const one = shown(journalScreen({ name: 'journal' }), {
      ...answers,
      audit: () => ({
        verdict: 'consistent',
        words: `consistent ${HOSTILE}`,
        exitCode: 3,
        entries: SIZE,
        findings: [{ severity: 'limit', text: HOSTILE.repeat(20) }],
      }),
    });
    one.fits();
    one.press('enter');
    one.fits();
    expect(one.text()).toContain('"why": "left 604"');
    one.press('escape', 'v');
    one.fits();
    expect(one.text()).toContain('CONSISTENT');
    expect(one.text()).toContain('exit code 3');
  });

  test('requests no older page until the cursor moves towards the end, then one after the other', () => {
    const one = shown(journalScreen({ name: 'journal' }), answers);
    expect(pagesIn(one)).toEqual([]);
    one.press('G');
    expect(pagesIn(one)).toEqual([1]);
    one.press('G');
    expect(pagesIn(one)).toEqual([1, 0]);
    one.press('G', 'enter');
    expect(one.text()).toContain('"why": "left 0"');
  });

  test('a filter searches older pages by itself, and dropping it shows the newest again', () => {
    const one = shown(journalScreen({ name: 'journal' }), answers);
    one.press('/', '6', '0', '4');
    expect(pagesIn(one)).toEqual([1, 0]);
    one.press('escape');
    expect(pagesIn(one)).toEqual([]);
  });

  test('copies the anchor of the log, and each press starts a new audit', () => {
    const one = shown(journalScreen({ name: 'journal' }), answers);
    one.press('a');
    expect(one.effects).toEqual([{ type: 'copy', text: 'lifeboat:x:1:y:z', what: 'the anchor of the log' }]);
    one.press('v', 'v');
    expect(one.screen.needs()).toContainEqual({ source: 'audit', of: { attempt: 2 } });
  });

  test('verifies against a public key file and an anchor, one after the other, and says what it used', () => {
    const one = shown(journalScreen({ name: 'journal' }), {
      ...answers,
      publicKeyFile: (of) => (of === 'lifeboat.pub' ? 'readable' : undefined),
      audit: () => ({ verdict: 'intact', words: 'intact', exitCode: 0, entries: SIZE, findings: [] }),
    });
    one.press('p', 'enter');
    expect(one.text()).toContain('the anchor from a ticket');
    one.press(...'lifeboat.pub');
    one.fits();
    expect(one.text()).toContain('it holds a public key: Enter verifies the log against it');
    one.press('enter');
    const publicKey = 'lifeboat.pub';
    expect(one.screen.needs()).toContainEqual({ source: 'audit', of: { attempt: 1, publicKey } });
    one.press('p', ...'lifeboat:x:1:y:z');
    one.fits();
    expect(one.text()).toContain('it is an anchor');
    expect(one.screen.needs().map(({ source }) => source)).not.toContain('publicKeyFile');
    one.press('enter');
    const both = { attempt: 2, publicKey, anchor: 'lifeboat:x:1:y:z' };
    expect(one.screen.needs()).toContainEqual({ source: 'audit', of: both });
    expect(one.text()).toContain('against the public key in lifeboat.pub');
    expect(one.text()).toContain('against the anchor lifeboat:x:1:y:z');
    one.press('p', 'escape');
    expect(one.text()).toContain('INTACT');
    one.press('escape', 'p', 'escape', 'escape');
    expect(one.text()).toContain('the newest first');
  });

  test('a limit that the verdict names is not repeated, and a key from elsewhere is offered', () => {
    const limit = 'no key is pinned: pass --public-key';
    const one = shown(journalScreen({ name: 'journal' }), {
      ...answers,
      audit: () => ({
        verdict: 'consistent',
        words: `consistent, but not all of it is pinned: ${limit}`,
        exitCode: 3,
        entries: SIZE,
        findings: [
          { severity: 'limit', text: limit },
          { severity: 'note', text: 'another thing' },
        ],
      }),
    });
    one.press('v');
    expect(one.text().split('no key is pinned')).toHaveLength(2);
    expect(one.text()).toContain('note: another thing');
    expect(one.text()).toContain('p verifies it against a public key from elsewhere');
  });

  test('a vault that is not open is named as the cause, and o asks for its passphrase and verifies again', () => {
    const words = 'no key is pinned, because the vault file with the signing key is not open';
    const one = shown(journalScreen({ name: 'journal' }), {
      ...answers,
      audit: ({ attempt }: { readonly attempt: number }) => ({
        ...(attempt === 1
          ? { verdict: 'consistent', words: `consistent: ${words}`, exitCode: 3, isLocked: true }
          : { verdict: 'intact', words: 'intact', exitCode: 0 }),
        entries: SIZE,
        findings: [],
      }),
    });
    one.press('v');
    expect(one.text()).toContain('the vault file with the signing key');
    expect(one.text()).toContain('o asks for the passphrase of the vault');
    one.press('o');
    expect(one.effects).toContainEqual({ type: 'unlock' });
    expect(one.screen.needs()).toContainEqual({ source: 'audit', of: { attempt: 2 } });
    expect(one.text()).toContain('INTACT');
    expect(one.text()).not.toContain('asks for the passphrase');
  });

  test('a body of a megabyte scrolls to its end, with every character', () => {
    const body = JSON.stringify({ text: `${'x  y'.repeat(250_000)}END` });
    const row = { ...pageOf(0, 1, 1).rows[0], body } as EntriesPage['rows'][number];
    const one = shown(journalScreen({ name: 'journal' }), {
      entries: () => ({ rows: [row], first: 0, size: 1 }),
    });
    one.press('enter', 'G');
    expect(one.text()).toContain('END"');
    expect(one.text()).toContain('x  yx  y');
  });
});
