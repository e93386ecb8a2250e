import { createPublicKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type ArmedCall,
  type Checkpoint,
  checkpointText,
  MAX_ARMED,
  MAX_NOTE_BYTES,
  parseCheckpoint,
  readCheckpoint,
} from '../../../src/store/log/checkpoint.ts';
import { freshSigner } from '../fresh-signer.ts';

const ORIGIN = 'lifeboat/0123456789abcdef';
const call: ArmedCall = {
  stream: 'run/01J',
  instance: 'orders',
  verb: 'createBackup',
  intent: 'backup-1',
  at: '2026-01-01T00:00:00.000Z',
};
const head: Checkpoint = { origin: ORIGIN, size: 42, root: 'ab'.repeat(32), armed: [call] };
const root = Buffer.from(head.root, 'hex').toString('base64');

test('a checkpoint is origin, size and root in base64, then a line for each armed call, and reads back as it was written', () => {
  const signer = freshSigner();
  const note = signer.sign(head);
  const line = 'armed run/01J orders createBackup backup-1 2026-01-01T00:00:00.000Z';
  expect(note.startsWith(`${ORIGIN}\n42\n${root}\n${line}\n\n— ${ORIGIN} `)).toBe(true);
  expect(readCheckpoint(note, [createPublicKey(signer.publicKey)])).toEqual({
    result: 'signed',
    checkpoint: { ...head, signedBy: signer.installation, note },
  });
});

test('a call with any name is one line of printable ASCII, and reads back', () => {
  for (const text of ['', ' ', 'a b', 'ä\n\u2028', '%2F', '/:%', '\u{1f600}']) {
    const armed = [{ ...call, instance: text, verb: text, intent: text }];
    const written = checkpointText({ ...head, armed });
    expect(written).toMatch(/^[\n -~]+$/u);
    expect(parseCheckpoint(written)?.armed).toEqual(armed);
  }
});

test('lines of unknown kinds are ignored', () => {
  const text = `${ORIGIN}\n0\n${root}\nsomething else\narmed too few\narmed store/log a b c 2026-01-01T00:00:00Z\n`;
  expect(parseCheckpoint(text)).toEqual({ ...head, size: 0, armed: [] });
});

test('a readable note has room for the maximum number of calls in a checkpoint, and says how many more there were', () => {
  const long = {
    ...call,
    stream: `run/${'0'.repeat(26)}` as const,
    instance: 'o'.repeat(60),
    intent: 'i'.repeat(60),
  };
  const armed = Array.from({ length: MAX_ARMED + 3 }, () => long);
  const note = freshSigner().sign({ ...head, armed });
  expect(Buffer.byteLength(note)).toBeLessThan(MAX_NOTE_BYTES);
  expect(note).toMatch(/\narmed-more 3\n\n/u);
  const read = parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));
  expect(read?.armed).toHaveLength(MAX_ARMED);
  expect(read?.unnamed).toBe(3);
  expect(checkpointText({ ...head, armed: armed.slice(3) })).not.toContain('armed-more');
});

describe('a text that is not a checkpoint', () => {
  test.each([
    ['of another origin', ['example.com/log', '42', root]],
    ['with a leading zero', [ORIGIN, '042', root]],
    ['of a negative size', [ORIGIN, '-1', root]],
    ['of more leaves than can be counted', [ORIGIN, '9'.repeat(16), root]],
    ['with a short root', [ORIGIN, '42', Buffer.alloc(31).toString('base64')]],
    ['with another spelling of the root', [ORIGIN, '42', root.replace(/=$/u, '')]],
    ['with an empty line', [ORIGIN, '42', root, '', 'x']],
    ['without a root', [ORIGIN, '42']],
  ])('is not read: one %s', (_what, lines) => {
    expect(parseCheckpoint(`${lines.join('\n')}\n`)).toBeUndefined();
  });

  test('is not read: a note that the key signed under a name other than the origin', () => {
    const signer = freshSigner();
    const note = signer.note(checkpointText(head), 'lifeboat-bundle/01J');
    expect(readCheckpoint(note, [createPublicKey(signer.publicKey)])).toEqual({ result: 'unknown-key' });
  });
});

test('no change of any single byte of a checkpoint goes unnoticed', () => {
  const signer = freshSigner();
  const keys = [createPublicKey(signer.publicKey)];
  const note = Buffer.from(signer.sign(head));
  for (let offset = 0; offset < note.length; offset += 1) {
    for (const bit of [0, 1, 2, 5, 6, 7]) {
      const changed = Buffer.from(note);
      changed[offset] = (changed[offset] ?? 0) ^ (1 << bit);
      const { result } = readCheckpoint(changed.toString(), keys);
      expect([offset, bit, result]).not.toEqual([offset, bit, 'signed']);
    }
  }
});

test('a checkpoint that another key signed is not trusted', () => {
  const [ours, theirs] = [freshSigner(), freshSigner()];
  const keys = [createPublicKey(ours.publicKey)];
  expect(readCheckpoint(theirs.sign(head), keys)).toEqual({ result: 'unknown-key' });
});
