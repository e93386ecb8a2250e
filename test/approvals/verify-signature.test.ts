import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { describe, test } from 'vitest';
import { type Challenge, challengeText, parseChallenge } from '../../src/approvals/challenge.ts';
import { NAMESPACE, publicKeyOf, signerOf, signText } from '../../src/approvals/ssh-signature.ts';
import { keptSigners, verifySignature } from '../../src/approvals/verify-signature.ts';
import { Secret } from '../../src/base/secret.ts';
import { signWith, somePeople } from './people.ts';

const TEXT = 'restore backup 3 into orders\n';

const CHALLENGE: Challenge = {
  ...{ order: 'restore backup 3 into orders', run: '01JD', runbook: 'restore-backup 1', mode: 'LIVE' },
  ...{ instance: 'orders', target: 'orders', url: 'https://dashboard.example.com', state: 'confirming' },
  ...{ entry: '41', requester: 'robin', plan: 'ab', prompt: 'type the name' },
  ...{ asked: '2026-11-21T03:00:00.000Z', expires: '2026-11-21T04:00:00.000Z' },
  ...{ facts: [], overrides: [], calls: [] },
};

function ownKey(): Secret {
  const { privateKey } = generateKeyPairSync('ed25519');
  return new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

describe.concurrent('a signature over a challenge', () => {
  test.for(['ed25519', 'rsa', 'ecdsa'] as const)(
    'by an %s key counts, under the name it is listed with',
    async (type, context) => {
      const { expect } = context;
      const people = somePeople(context);
      const ada = people.person('ada@example.com', type);
      const allowedSigners = people.file(
        'approvers',
        `# who may\n\n${people.person('bob').line()}${ada.line()}`,
      );
      const found = await verifySignature(TEXT, ada.sign(TEXT), { allowedSigners });
      const listed = execFileSync('ssh-keygen', ['-l', '-f', `${ada.keyFile}.pub`], { encoding: 'utf8' });
      expect(found).toMatchObject({
        principals: ['ada@example.com'],
        publicKey: ada.publicKey,
        method: 'ssh',
      });
      expect(listed).toContain(found.key);
    },
  );

  test("of lifeboat's own key is one for ssh-keygen too", async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const pem = ownKey();
    const { publicKey, fingerprint } = publicKeyOf(pem);
    const allowedSigners = people.file('approvers', `grace ${publicKey} lifeboat:0123456789abcdef\n`);
    const signature = signText(TEXT, pem);
    const found = await verifySignature(TEXT, signature, { allowedSigners });
    expect(found).toMatchObject({ principals: ['grace'], key: fingerprint, publicKey, method: 'lifeboat' });
    const path = people.file('signature', signature);
    const args = ['-Y', 'verify', '-f', allowedSigners, '-I', 'grace', '-n', NAMESPACE, '-s', path];
    expect(spawnSync('ssh-keygen', args, { input: TEXT }).status).toBe(0);
    expect(spawnSync('ssh-keygen', args, { input: `${TEXT} ` }).status).not.toBe(0);
  });

  test('by a certificate counts under the names that its authority wrote into it', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const [authority, ada] = [people.person('authority'), people.person('ada')];
    const pub = `${ada.keyFile}.pub`;
    execFileSync('ssh-keygen', ['-q', '-s', authority.keyFile, '-I', 'ada', '-n', 'ada@example.com', pub]);
    const signature = signWith(`${ada.keyFile}-cert.pub`, TEXT);
    const allowedSigners = people.file('approvers', `*@example.com cert-authority ${authority.publicKey}\n`);
    const found = await verifySignature(TEXT, signature, { allowedSigners });
    const listed = execFileSync('ssh-keygen', ['-l', '-f', pub], { encoding: 'utf8' });
    expect(found.principals).toEqual(['ada@example.com']);
    expect(listed).toContain(found.key);
  });

  test('is refused under a wildcard pattern, because its owner is unknown', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const ada = people.person('*@example.com');
    const allowedSigners = people.file('approvers', ada.line());
    await expect(verifySignature(TEXT, ada.sign(TEXT), { allowedSigners })).rejects.toMatchObject({
      code: 'approval.refused',
      shortMessage: expect.stringContaining('wildcard entries are ignored'),
    });
  });

  test('counts only while the key may sign, even if a clock stands still or goes back', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const ada = people.person('ada');
    const allowedSigners = people.file(
      'approvers',
      ada.line('valid-after="20260101",valid-before="20261201"'),
    );
    const at = (day: string) =>
      verifySignature(TEXT, ada.sign(TEXT), { allowedSigners }, new Date(`${day}T12:00:00`));
    await expect(at('2025-12-30')).rejects.toMatchObject({ code: 'approval.refused' });
    await expect(at('2026-06-01')).resolves.toMatchObject({ principals: ['ada'] });
    await expect(at('2026-12-02')).rejects.toMatchObject({ code: 'approval.refused' });
  });

  test('is not accepted with a list that everybody can write, or that is missing', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const ada = people.person('ada');
    const allowedSigners = people.file('approvers', ada.line());
    chmodSync(allowedSigners, 0o666);
    const signature = ada.sign(TEXT);
    await expect(verifySignature(TEXT, signature, { allowedSigners })).rejects.toMatchObject({
      code: 'approval.unchecked',
    });
    await expect(
      verifySignature(TEXT, signature, { allowedSigners: `${allowedSigners}.gone` }),
    ).rejects.toMatchObject({ code: 'approval.unchecked' });
  });

  test('with any byte changed does not count', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const ada = people.person('ada');
    const allowedSigners = people.file('approvers', ada.line());
    const lines = ada.sign(TEXT).split('\n');
    const blob = Buffer.from(lines.slice(1, -2).join(''), 'base64');
    const tries = [0, 9, 14, 40, 70, 85, 100, blob.length - 40, blob.length - 1];
    const refused = tries.map((at) => {
      const other = Buffer.from(blob);
      other[at] = (other[at] ?? 0) ^ 1;
      const armored = `${lines[0]}\n${other.toString('base64')}\n${lines.at(-2)}\n`;
      return verifySignature(TEXT, armored, { allowedSigners }).then(
        () => at,
        (thrown: { code: string }) => thrown.code,
      );
    });
    expect(new Set(await Promise.all(refused))).toEqual(new Set(['approval.refused']));
  });

  test('counts with the line ends and byte order mark that mail and editors add to its file', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const ada = people.person('ada');
    const allowedSigners = people.file('approvers', ada.line());
    const signature = ada.sign(TEXT);
    for (const changed of [
      signature.replaceAll('\n', '\r\n'),
      `\ufeff${signature}`,
      Buffer.from(`\ufeff${signature}`).toString('latin1'),
      signature.trimEnd(),
    ])
      await expect(verifySignature(TEXT, changed, { allowedSigners })).resolves.toMatchObject({ signature });
  });

  test.for([
    ['its lines end with CR LF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark stands before it', (text: string) => `\ufeff${text}`],
    ['the end of its last line is missing', (text: string) => text.trimEnd()],
    ['an empty line follows it', (text: string) => `${text}\n`],
    [
      'a byte order mark stands before it, its lines end with CR LF',
      (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}`,
    ],
  ] as const)(
    'over a copy that was changed on its way is refused, and the change is named: %s',
    async ([how, change], context) => {
      const { expect } = context;
      const people = somePeople(context);
      const ada = people.person('ada');
      const allowedSigners = people.file('approvers', ada.line());
      const request = challengeText(CHALLENGE);
      await expect(
        verifySignature(request, ada.sign(change(request)), { allowedSigners }),
      ).rejects.toMatchObject({
        code: 'approval.refused',
        shortMessage: `the signature is good, but for a changed copy of this request: ${how}`,
      });
      expect(() => parseChallenge(change(request))).toThrow(`mail or an editor changed it: ${how}`);
    },
  );

  test.for(['utf8', 'utf16le', 'utf16be'] as const)(
    'is found in a list in %s with its byte order mark',
    async (encoding, context) => {
      const { expect } = context;
      const people = somePeople(context);
      const [ada, bob] = [people.person('ada'), people.person('bob')];
      const encoded = (text: string) => {
        const bytes = Buffer.from(`\ufeff${text}`, encoding === 'utf8' ? 'utf8' : 'utf16le');
        return encoding === 'utf16be' ? bytes.swap16() : bytes;
      };
      const allowedSigners = people.file('approvers', encoded(`${ada.line()}${bob.line()}`));
      const revoked = people.file('revoked', encoded(`${bob.publicKey}\n`));
      const verify = (signature: string) => verifySignature(TEXT, signature, { allowedSigners, revoked });
      await expect(verify(ada.sign(TEXT))).resolves.toMatchObject({
        principals: ['ada'],
        allowedBy: ada.line().trim(),
      });
      await expect(verify(bob.sign(TEXT))).rejects.toMatchObject({
        shortMessage: expect.stringContaining('is revoked'),
      });
      expect((await keptSigners(allowedSigners)).people.map(({ names }) => names)).toEqual(['ada', 'bob']);
    },
  );

  test('is not looked for in a list whose bytes are not text', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const ada = people.person('ada');
    const allowedSigners = people.file('approvers', Buffer.from(ada.line(), 'utf16le'));
    await expect(verifySignature(TEXT, ada.sign(TEXT), { allowedSigners })).rejects.toMatchObject({
      code: 'approval.unchecked',
      shortMessage: expect.stringContaining('null bytes'),
    });
  });

  test('counts under a quoted name with a space, and under no name of other letters', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const ada = people.person('"Ada Example"');
    const found = await verifySignature(TEXT, ada.sign(TEXT), {
      allowedSigners: people.file('approvers', ada.line()),
    });
    expect(found).toMatchObject({ principals: ['Ada Example'], listedAs: ['Ada Example'] });
    const allowedSigners = people.file('others', ada.line().replace('"Ada Example"', '\u00c1da'));
    await expect(verifySignature(TEXT, ada.sign(TEXT), { allowedSigners })).rejects.toMatchObject({
      shortMessage: expect.stringContaining('a name is printable ASCII'),
    });
  });

  test('is parsed without a crash, whatever it contains', ({ expect }) => {
    const armor = (blob: Buffer) =>
      `-----BEGIN SSH SIGNATURE-----\n${blob.toString('base64')}\n-----END SSH SIGNATURE-----\n`;
    const long = Buffer.concat([Buffer.from('SSHSIG'), Buffer.of(0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 1)]);
    for (const text of ['', 'x', armor(Buffer.alloc(0)), armor(Buffer.from('SSHSIG')), armor(long)])
      expect(signerOf(text)).toBeUndefined();
  });
});
