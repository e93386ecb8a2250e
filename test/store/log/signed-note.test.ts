import { execFileSync } from 'node:child_process';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { keyId, MAX_NOTE_BYTES, openNote, rawPublicKey, textOf } from '../../../src/store/log/checkpoint.ts';
import { createSigner } from '../../../src/store/log/signer.ts';
import { noPython } from '../../audit/bundle/verifiers.ts';
import { freshSigner } from '../fresh-signer.ts';
import { temporaryHome } from '../temporary-home.ts';

/*
 * Notes published by others: the example of golang.org/x/mod/sumdb/note, that of c2sp.org/signed-note, and a
 * key of the Go checksum database. A key is written as `name+id+base64(type || key)`.
 */
const PUBLISHED = {
  go: {
    vkey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    note:
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
      '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
  },
  c2sp: {
    vkey: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    note:
      'This is an example message.\n\n' +
      '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
  },
} as const;
const SUMDB = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';

const rawKey = (vkey: string) => Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').subarray(1);
const nameOf = (vkey: string) => vkey.split('+')[0] ?? '';
const keyOf = (vkey: string): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: rawKey(vkey).toString('base64url') },
    format: 'jwk',
  });
const publicKey = ({ publicKey: pem }: { readonly publicKey: string }) => createPublicKey(pem);

test.each([PUBLISHED.go.vkey, PUBLISHED.c2sp.vkey, SUMDB])(
  'the key id is the one published with the key: %s',
  (vkey) => {
    expect(keyId(nameOf(vkey), rawKey(vkey)).toString('hex')).toBe(vkey.split('+')[1]);
  },
);

test.each(Object.values(PUBLISHED))(
  'the note that $vkey signed opens, and does not after one change',
  ({ vkey, note }) => {
    const [name, key] = [nameOf(vkey), keyOf(vkey)];
    expect(openNote(note, name, [keyOf(SUMDB), key])).toMatchObject({
      result: 'signed',
      text: note.slice(0, note.lastIndexOf('\n\n') + 1),
    });
    expect(openNote(note.replace('answer', 'Answer').replace('an ex', 'An ex'), name, [key])).toEqual({
      result: 'bad-signature',
    });
    expect(openNote(note, name, [])).toEqual({ result: 'unknown-key' });
    expect(openNote(note, 'another.example', [key])).toEqual({ result: 'unknown-key' });
  },
);

describe('of several signatures', () => {
  const [ours, theirs] = [freshSigner(), freshSigner()];
  const text = 'a text\n\nwith an empty line\n';
  const [mine = '', other = ''] = [ours, theirs].map((signer) =>
    signer.note(text, 'x.example/1').split('\n').at(-2),
  );
  const note = `${text}\n${other}\n${mine}\n`;

  test('one by a known key is enough, at any position', () => {
    for (const keys of [[ours], [theirs], [theirs, ours]])
      expect(openNote(note, 'x.example/1', keys.map(publicKey))).toMatchObject({ result: 'signed', text });
  });

  test('a wrong one by a known key invalidates the note', () => {
    const wrong = ours.note('another\n', 'x.example/1').split('\n').at(-2);
    const spoilt = `${text}\n${other}\n${wrong}\n`;
    expect(openNote(spoilt, 'x.example/1', [ours, theirs].map(publicKey)).result).toBe('bad-signature');
    expect(openNote(spoilt, 'x.example/1', [publicKey(theirs)]).result).toBe('signed');
  });

  test('sixteen of post-quantum size can be read', () => {
    const large = `— pq.example ${Buffer.alloc(5_000, 7).toString('base64')}`;
    expect(
      openNote(`${text}\n${`${large}\n`.repeat(15)}${mine}\n`, 'x.example/1', [publicKey(ours)]).result,
    ).toBe('signed');
  });
});

test.each([
  ['nothing', ''],
  ['no signature', 'text\n\n'],
  ['no empty line', 'text\n— a YWJjZGVm\n'],
  ['no last line feed', 'text\n\n— a YWJjZGVm'],
  ['a control character', 'te\txt\n\n— a YWJjZGVm\n'],
  ['a carriage return', 'text\r\n\n— a YWJjZGVm\n'],
  ['half a character', 'te\ud800xt\n\n— a YWJjZGVm\n'],
  ['a name with a plus', 'text\n\n— a+b YWJjZGVm\n'],
  ['a name with a space of Unicode', 'text\n\n— a\u0085b YWJjZGVm\n'],
  ['another dash', 'text\n\n- a YWJjZGVm\n'],
  ['base64 with spare bits', 'text\n\n— a YWJjZGVmZR==\n'],
  ['a signature without bytes', 'text\n\n— a YWJjZA==\n'],
  ['more than is read', `${'x'.repeat(MAX_NOTE_BYTES)}\n\n— a YWJjZGVm\n`],
])('a note with %s is invalid', (_what, note) => {
  expect(openNote(note, 'a', [publicKey(freshSigner())])).toEqual({ result: 'unreadable' });
});

test('the text of a note ends at its last empty line', () => {
  expect(textOf('one\n\ntwo\n\n— a YWJjZGVm\n')).toBe('one\n\ntwo\n');
});

test('openssl verifies the signature over the text', () => {
  const folder = temporaryHome();
  const signer = freshSigner();
  const [text = '', line = ''] = signer.note('some text\n', 'x.example').split('\n\n');
  const signature = Buffer.from(line.trim().split(' ')[2] ?? '', 'base64').subarray(4);
  writeFileSync(join(folder, 'text'), `${text}\n`);
  writeFileSync(join(folder, 'sig'), signature);
  writeFileSync(join(folder, 'pub'), signer.publicKey);
  const words = 'pkeyutl -verify -pubin -inkey pub -rawin -in text -sigfile sig'.split(' ');
  expect(execFileSync('openssl', words, { cwd: folder }).toString()).toContain(
    'Signature Verified Successfully',
  );
});

test.skipIf(noPython)(
  'Python reads our notes as it reads those published by others, and finds every change',
  () => {
    const signer = freshSigner();
    const ours = signer.note('some text\n\nand more\n', 'x.example/1');
    const raw = rawPublicKey(createPublicKey(signer.publicKey)).toString('hex');
    const all = [
      ...Object.values(PUBLISHED).map(({ vkey, note }) => [note, nameOf(vkey), rawKey(vkey).toString('hex')]),
      [ours, 'x.example/1', raw],
    ].flatMap(([note = '', ...rest]) => [
      [note, ...rest],
      [note.replace('e', 'E'), ...rest],
    ]);
    const script = [
      'import json, sys',
      'sys.path.insert(0, "test/audit/bundle")',
      'from verify import open_note',
      'for note, name, key in json.load(sys.stdin):',
      '    print(open_note(note.encode(), name, [bytes.fromhex(key)])[1])',
    ].join('\n');
    const said = execFileSync('python3', ['-B', '-c', script], {
      input: JSON.stringify(all),
      encoding: 'utf8',
    });
    expect(said.trim().split('\n')).toEqual(all.map((_, at) => (at % 2 === 0 ? 'signed' : 'changed')));
  },
);

test('a key that is not ed25519 is refused without quoting it', () => {
  const wrong = new Secret('-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----');
  expect(() => createSigner(wrong)).toThrow('the signing key in the key store is not an ed25519 key');
});
