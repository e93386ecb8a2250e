import { execFileSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import { readCheckpoint } from '../../../src/store/log/checkpoint.ts';
import { keyId, openNote } from '../../../src/store/log/signed-note.ts';
import { createSigner } from '../../../src/store/log/signer.ts';
import { freshSigner } from '../../audit/signing.ts';
import { temporaryHome } from '../temporary-home.ts';

/** The example of Go's golang.org/x/mod/sumdb/note: a key as `name+id+base64(type || key)`, and a note it signed. */
const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const GO_NOTE =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
const SUMDB_KEY = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';

const rawKey = (vkey: string) => Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').subarray(1);

const head = { stream: 'run/01J', seq: 42, hash: 'ab'.repeat(32) } as const;

test.each([GO_KEY, SUMDB_KEY])('the key id is the one that Go computes: %s', (vkey) => {
  const [name = '', id] = vkey.split('+');
  expect(keyId(name, rawKey(vkey)).toString('hex')).toBe(id);
});

test('a note that Go signed opens, and does not after one change', () => {
  const x = rawKey(GO_KEY).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  expect(openNote(GO_NOTE, [key])).toMatchObject({ result: 'signed', name: 'PeterNeumann' });
  expect(openNote(GO_NOTE.replace('answer', 'Answer'), [key])).toEqual({ result: 'bad-signature' });
  expect(openNote(GO_NOTE, [])).toEqual({ result: 'unknown-key' });
});

test('openssl verifies the signature of a checkpoint over its text', () => {
  const folder = temporaryHome();
  const signer = freshSigner();
  const note = signer.sign(head);
  const [text = '', line = ''] = note.split('\n\n');
  const signature = Buffer.from(line.trim().split(' ')[2] ?? '', 'base64').subarray(4);
  for (const [name, data] of [
    ['text', `${text}\n`],
    ['sig', signature],
    ['pub', signer.publicKey],
  ] as const) {
    writeFileSync(join(folder, name), data);
  }
  const verify = [
    'pkeyutl',
    '-verify',
    '-pubin',
    '-inkey',
    'pub',
    '-rawin',
    '-in',
    'text',
    '-sigfile',
    'sig',
  ];
  expect(execFileSync('openssl', verify, { cwd: folder }).toString()).toContain(
    'Signature Verified Successfully',
  );
});

test('a checkpoint reads as origin, size and hash, and says the same when it is read back', () => {
  const signer = freshSigner();
  const note = signer.sign(head);
  const origin = `lifeboat/${signer.installation}/run/01J`;
  const hash = Buffer.from(head.hash, 'hex').toString('base64');
  expect(note.startsWith(`${origin}\n42\n${hash}\n\n— ${origin} `)).toBe(true);
  expect(readCheckpoint(note, [createPublicKey(signer.publicKey)])).toEqual({
    result: 'signed',
    checkpoint: { ...head, installation: signer.installation },
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

test('a checkpoint signed by another installation is not believed, nor one that borrows our name', () => {
  const [ours, theirs] = [freshSigner(), freshSigner()];
  const keys = [createPublicKey(ours.publicKey)];
  const note = theirs.sign(head);
  expect(readCheckpoint(note, keys)).toEqual({ result: 'unknown-key' });
  expect(readCheckpoint(note.replaceAll(theirs.installation, ours.installation), keys)).toEqual({
    result: 'unknown-key',
  });
});

test('what is not an ed25519 key is refused without quoting it', () => {
  const wrong = new Secret('-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----');
  expect(() => createSigner(wrong)).toThrow('the signing key in the key store is not an ed25519 key');
});
