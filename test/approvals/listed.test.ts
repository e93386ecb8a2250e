import { execFileSync, spawnSync } from 'node:child_process';
import { describe, test } from 'vitest';
import { isSamePerson } from '../../src/approvals/same-person.ts';
import { NAMESPACE } from '../../src/approvals/ssh-signature.ts';
import { verifyApproval } from '../../src/approvals/verify-approval.ts';
import { verifySignature } from '../../src/approvals/verify-signature.ts';
import { signWith, somePeople } from './people.ts';

const TEXT = 'restore backup 3 into orders\n';

/** The confirmation that Ada asks for. */
const ASKED = {
  challenge: '0123456789abcdef',
  text: TEXT,
  target: 'orders',
  order: 'restore backup 3 into orders',
  plan: '',
  requester: 'ada@example.com',
  expiresAt: '2026-11-21T18:00:00.000Z',
};

function verifiedFor(allowedSigners: string, signature: string) {
  const rules = {
    signers: { allowedSigners },
    operator: { name: 'Ada', email: 'ada@example.com' },
    ownKey: '',
    now: () => new Date(),
  };
  return verifyApproval(rules, '/nowhere', { run: 'R1', entries: [], asked: ASKED }, signature);
}

describe.concurrent('the file of allowed signers', () => {
  test('makes nobody a second person whose key it has under the name of whoever asks, wherever it stands', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const key = people.person('bob@example.com');
    const signature = key.sign(TEXT);
    const alone = people.file('alone', key.line());
    await expect(verifiedFor(alone, signature)).resolves.toMatchObject({ principals: ['bob@example.com'] });
    for (const names of ['ada@example.com', '"carl,ADA@example.com"', 'ada']) {
      const twice = people.file('twice', `${key.line()}${names} namespaces="git" ${key.publicKey}\n`);
      await expect(verifiedFor(twice, signature)).rejects.toMatchObject({ code: 'approval.same-person' });
    }
  });

  test('gives the line that allows a key, which alone verifies the signature later', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const [ada, bob] = [people.person('ada'), people.person('bob')];
    const line = bob.line(`namespaces="${NAMESPACE}",valid-after="20260101"`).trim();
    const text = `# who may\r\n\r\n${ada.line()}bob namespaces="git" ${bob.publicKey}\n${line}\r\n`;
    const allowedSigners = people.file('approvers', text);
    const signature = bob.sign(TEXT);
    const found = await verifySignature(TEXT, signature, { allowedSigners });
    expect(found.allowedBy).toBe(line);
    const args = ['-f', people.file('line', `${found.allowedBy}\n`), '-s', people.file('sig', signature)];
    const verify = ['-Y', 'verify', '-n', NAMESPACE, '-I', 'bob', ...args];
    expect(spawnSync('ssh-keygen', verify, { input: TEXT }).status).toBe(0);
  });

  test('gives the line of the authority for a certificate', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const [authority, bob] = [people.person('authority'), people.person('bob')];
    const pub = `${bob.keyFile}.pub`;
    execFileSync('ssh-keygen', ['-q', '-s', authority.keyFile, '-I', 'bob', '-n', 'bob@example.com', pub]);
    const line = `*@example.com cert-authority ${authority.publicKey}`;
    const allowedSigners = people.file('approvers', `${bob.line('namespaces="git"')}${line}\n`);
    const signature = signWith(`${bob.keyFile}-cert.pub`, TEXT);
    expect(await verifySignature(TEXT, signature, { allowedSigners })).toMatchObject({ allowedBy: line });
  });

  test('is quoted by its line when a key is not allowed, and of other lines nothing is said', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const [ada, bob] = [people.person('ada'), people.person('bob')];
    const expired = people.file('expired', `\n# one\n${bob.line('valid-before="20200101"')}${ada.line()}`);
    const ended = await verifySignature(TEXT, bob.sign(TEXT), { allowedSigners: expired }).catch(
      (thrown) => thrown,
    );
    expect(ended.shortMessage).toMatch(/may approve now: "line 3: key has expired/);
    const foreign = people.file('foreign', `\n${ada.line()}`);
    const strange = await verifySignature(TEXT, bob.sign(TEXT), { allowedSigners: foreign }).catch(
      (thrown) => thrown,
    );
    expect(strange.shortMessage).toMatch(/may approve now: "No principal matched\."$/);
  });
});

test.for([
  ['ada@example.com', 'Ada Lovelace', 'ada@example.com', true],
  ['Ada', 'A. Lovelace', 'ada@example.com', true],
  ['ada@home.example', 'ada', undefined, true],
  ['ada@home.example', 'Lovelace', 'ada@example.com', false],
  ['bob', 'Ada', 'ada@example.com', false],
] as const)(
  'whether %s is the operator %s with the email %s: %s',
  ([principal, name, email, same], { expect }) => {
    expect(isSamePerson([principal], [], { name, email })).toBe(same);
  },
);
