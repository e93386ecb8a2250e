import { execFileSync, spawnSync } from 'node:child_process';
import { describe, test } from 'vitest';
import { NAMESPACE } from '../../src/approvals/ssh-signature.ts';
import { verifyApproval } from '../../src/approvals/verify-approval.ts';
import { verifySignature } from '../../src/approvals/verify-signature.ts';
import { signWith, somePeople } from './people.ts';

const TEXT = 'restore backup 3 into orders\n';

/** The confirmation that Ada requests. */
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
  test('does not accept a second person whose key is also listed under the name of the requester, in any place', async (context) => {
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

  test('gives the line that allows a key, and that line alone verifies the signature later', async (context) => {
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

  test('is quoted by the line of a key that is not allowed, and says nothing about other lines', async (context) => {
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

  test('may list a key for other purposes first: the name under which it approves counts', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const bob = people.person('bob@example.com');
    const forGit = `bob-git,bob-mail namespaces="git" ${bob.publicKey}\n`;
    const pattern = `*@example.org namespaces="git" ${bob.publicKey}\n`;
    for (const before of [
      forGit,
      pattern,
      `bob-old valid-before="20200101" ${bob.publicKey}\n`,
      forGit + pattern,
    ]) {
      const signers = people.file('approvers', before + bob.line());
      const found = await verifiedFor(signers, bob.sign(TEXT));
      expect(found, before).toMatchObject({ principals: ['bob@example.com'], allowedBy: bob.line().trim() });
    }
    for (const alone of [forGit, pattern]) {
      const signers = people.file('alone', alone);
      await expect(verifiedFor(signers, bob.sign(TEXT))).rejects.toMatchObject({ code: 'approval.refused' });
    }
  });

  test('gives first the name under which the key may sign, so that the recorded line is the one of that name', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const bob = people.person('bob@example.com,bobby');
    const signers = people.file('approvers', `bobby namespaces="git" ${bob.publicKey}\n${bob.line()}`);
    const found = await verifySignature(TEXT, bob.sign(TEXT), { allowedSigners: signers });
    const args = [
      '-f',
      people.file('line', `${found.allowedBy}\n`),
      '-s',
      people.file('sig', bob.sign(TEXT)),
    ];
    const [first = ''] = found.principals;
    const verify = ['-Y', 'verify', '-n', NAMESPACE, '-I', first, ...args];
    expect(spawnSync('ssh-keygen', verify, { input: TEXT }).status).toBe(0);
  });

  test('does not accept a certificate for a key that is also listed under the name of the requester', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const [authority, ada] = [people.person('authority'), people.person('ada@example.com')];
    const certified = (names: string) => {
      const pub = `${ada.keyFile}.pub`;
      execFileSync('ssh-keygen', ['-q', '-s', authority.keyFile, '-I', 'x', '-n', names, pub]);
      return signWith(`${ada.keyFile}-cert.pub`, TEXT);
    };
    const line = `*@example.com cert-authority,namespaces="${NAMESPACE}" ${authority.publicKey}\n`;
    const alone = people.file('alone', line);
    const listed = people.file('listed', `${line}ada@example.com namespaces="git" ${ada.publicKey}\n`);
    const oncall = certified('oncall@example.com');
    await expect(verifiedFor(alone, oncall)).resolves.toMatchObject({ principals: ['oncall@example.com'] });
    await expect(verifiedFor(listed, oncall)).rejects.toMatchObject({ code: 'approval.same-person' });
    const both = certified('oncall@example.com,ada@example.com');
    await expect(verifiedFor(alone, both)).rejects.toMatchObject({ code: 'approval.same-person' });
    await expect(verifiedFor(alone, certified('oncall@elsewhere.org'))).rejects.toMatchObject({
      code: 'approval.refused',
    });
  });

  test('accepts no authority whose time has passed, and no certificate for other purposes', async (context) => {
    const { expect } = context;
    const people = somePeople(context);
    const [authority, bob] = [people.person('authority'), people.person('bob')];
    const pub = `${bob.keyFile}.pub`;
    execFileSync('ssh-keygen', ['-q', '-s', authority.keyFile, '-I', 'bob', '-n', 'bob@example.com', pub]);
    const signature = signWith(`${bob.keyFile}-cert.pub`, TEXT);
    for (const options of ['namespaces="git"', 'valid-before="20200101"']) {
      const line = `*@example.com cert-authority,${options} ${authority.publicKey}\n`;
      const signers = people.file('approvers', line);
      await expect(verifiedFor(signers, signature), options).rejects.toMatchObject({
        code: 'approval.refused',
      });
    }
    // The same key as a person's own, not as an authority.
    const plain = people.file('plain', `bob@example.com ${authority.publicKey}\n`);
    await expect(verifiedFor(plain, signature)).rejects.toMatchObject({ code: 'approval.refused' });
  });
});
