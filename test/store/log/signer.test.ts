import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { createSigner } from '../../../src/store/log/signer.ts';
import { freshSigner } from '../fresh-signer.ts';

const CHECKPOINT = { origin: 'lifeboat/0123456789abcdef', size: 7, root: 'a'.repeat(64), armed: [] };

test('a signer recognizes the notes that it made itself', () => {
  const signer = freshSigner();
  expect(signer.hasMade(signer.sign(CHECKPOINT), CHECKPOINT.origin)).toBe(true);
  expect(signer.hasMade(signer.note('one\n', 'name'), 'name')).toBe(true);
});

test('a signer does not recognize a note with a changed character, or under another name', () => {
  const signer = freshSigner();
  const note = signer.sign(CHECKPOINT);
  for (let at = 0; at < note.length; at += 1) {
    const changed = `${note.slice(0, at)}${note[at] === 'A' ? 'B' : 'A'}${note.slice(at + 1)}`;
    expect(signer.hasMade(changed, CHECKPOINT.origin)).toBe(false);
  }
  expect(signer.hasMade(note, 'lifeboat/fedcba9876543210')).toBe(false);
});

test('a signer does not recognize a note that another key signed, or an unsigned one', () => {
  const [signer, other] = [freshSigner(), freshSigner()];
  signer.sign(CHECKPOINT);
  expect(signer.hasMade(other.sign(CHECKPOINT), CHECKPOINT.origin)).toBe(false);
  expect(signer.hasMade('', CHECKPOINT.origin)).toBe(false);
});

test('a note that is signed again after many others is identical', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const signer = createSigner(pem);
  const first = signer.sign(CHECKPOINT);
  for (let size = 8; size < 300; size += 1) signer.sign({ ...CHECKPOINT, size });
  expect(signer.hasMade(first, CHECKPOINT.origin)).toBe(false);
  expect(signer.sign(CHECKPOINT)).toBe(first);
  expect(createSigner(pem).sign(CHECKPOINT)).toBe(first);
});
