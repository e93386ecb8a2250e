import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readApprovers } from '../../src/approvals/approvers.ts';
import { fingerprintOfBlob } from '../../src/approvals/ssh-signature.ts';
import { type Person, somePeople } from './people.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const FOR_ALL_TIME = 'namespaces="lifeboat-approval"';

const keyOf = ({ publicKey }: Person) => fingerprintOfBlob(publicKey.split(' ')[1] ?? '');
const namesOf = (approvers: Awaited<ReturnType<typeof readApprovers>>) => approvers.map(({ names }) => names);

test('only people whose key can approve now are approvers', async (context) => {
  const people = somePeople(context);
  const [ann, old, late, git, any] = ['ann', 'old', 'late', 'git', '*'].map((name) => people.person(name));
  const allowedSigners = people.file(
    'signers',
    [
      '# who approves',
      ann?.line(),
      old?.line(`${FOR_ALL_TIME},valid-before="20200101"`),
      late?.line(`${FOR_ALL_TIME},valid-after="20300101"`),
      git?.line('namespaces="git"'),
      any?.line(),
    ].join('\n'),
  );
  expect(await readApprovers({ allowedSigners }, [], NOW)).toEqual([{ names: ['ann'] }]);
});

test('a person with two keys, or a key with two names, is one approver', async (context) => {
  const people = somePeople(context);
  const [ann, laptop, ben] = [people.person('ann'), people.person('ann,ann@home'), people.person('ben')];
  const again = ben.line().replace('ben', 'benjamin');
  const allowedSigners = people.file('signers', ann.line() + ben.line() + laptop.line() + again);
  expect(namesOf(await readApprovers({ allowedSigners }, [], NOW))).toEqual([
    ['ann', 'ann@home'],
    ['ben', 'benjamin'],
  ]);
});

test('an approver has last shown their key with the newest approval that it signed, or when it was listed', async (context) => {
  const people = somePeople(context);
  const [ann, laptop, ben] = [people.person('ann'), people.person('ann', 'ecdsa'), people.person('ben')];
  const listed = ben.line(`${FOR_ALL_TIME},valid-after="20260301Z"`);
  const allowedSigners = people.file('signers', ann.line() + laptop.line() + listed);
  const signed = [
    { key: keyOf(ann), approver: 'ann', at: '2026-01-01T00:00:00.000Z' },
    { key: keyOf(laptop), approver: 'ann', at: '2026-02-01T00:00:00.000Z' },
    // With a key that is not listed any more.
    { key: `SHA256:${'a'.repeat(43)}`, approver: 'ben', at: '2026-03-09T00:00:00.000Z' },
  ];
  expect(await readApprovers({ allowedSigners }, signed, NOW)).toEqual([
    { names: ['ann'], shownAt: '2026-02-01T00:00:00.000Z' },
    { names: ['ben'], shownAt: '2026-03-01T00:00:00.000Z' },
  ]);
});

test('an approver who signed with a certificate has shown the key of its authority', async (context) => {
  const people = somePeople(context);
  const authority = people.person('*@example.com').line(`cert-authority,${FOR_ALL_TIME}`);
  const allowedSigners = people.file('signers', authority);
  const at = '2026-02-01T00:00:00.000Z';
  const by = (approver: string) =>
    readApprovers({ allowedSigners }, [{ key: `SHA256:${'a'.repeat(43)}`, approver, at }], NOW);
  expect(await by('ann@example.com')).toEqual([{ names: ['*@example.com'], shownAt: at }]);
  expect(await by('ann@example.org')).toEqual([{ names: ['*@example.com'] }]);
});

test('a person whose key is revoked, in text or in a key revocation list, is no approver', async (context) => {
  const people = somePeople(context);
  const [ann, ben] = [people.person('ann'), people.person('ben')];
  const allowedSigners = people.file('signers', ann.line() + ben.line());
  const text = people.file('revoked', `${ben.publicKey}\n`);
  const list = join(people.folder, 'krl');
  execFileSync('ssh-keygen', ['-q', '-k', '-f', list, `${ben.keyFile}.pub`]);
  for (const revoked of [text, list])
    expect(namesOf(await readApprovers({ allowedSigners, revoked }, [], NOW))).toEqual([['ann']]);
});

test('a file that cannot be read is an error, and gives no approvers', async (context) => {
  const people = somePeople(context);
  const allowedSigners = people.file('signers', people.person('ann').line());
  const missing = join(people.folder, 'missing');
  for (const files of [{ allowedSigners: missing }, { allowedSigners, revoked: missing }])
    await expect(readApprovers(files, [], NOW)).rejects.toMatchObject({ code: 'approval.unchecked' });
});
