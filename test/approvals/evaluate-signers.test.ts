import { expect, test } from 'vitest';
import { evaluateSigners } from '../../src/approvals/allowed-signers.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA';
const OURS = 'namespaces="lifeboat-approval"';
const NOW = new Date('2026-11-21T03:00:00Z');

const saysOf = (...lines: readonly string[]) =>
  evaluateSigners(lines.join('\n'), NOW).findings.map(({ line, says }) => `${line}: ${says}`);

test.each([
  ['a person with a key for approvals alone', `ada@example.com ${OURS} ${KEY}`],
  [
    'several names, and a comment after the key',
    `"ada@example.com,ada" ${OURS},valid-before="20270101" ${KEY} Ada's laptop`,
  ],
  [
    'an authority for one domain, until it ends',
    `*@example.com cert-authority,${OURS},valid-before="20270101Z" ${KEY}`,
  ],
  ['a key that is listed for something else', `ada@example.com namespaces="git" ${KEY}`],
  ['a remark', '# * ssh-ed25519'],
])('has no finding about %s', (_, line) => {
  expect(saysOf(line)).toEqual([]);
});

test.each([
  [
    `ada@example.com ${KEY}`,
    /names no namespaces, so a key that is listed for something else approves as well/,
  ],
  [`ada@example.com namespaces="git,*" ${KEY}`, /names no namespaces/],
  [
    `* ${OURS} ${KEY}`,
    /has a wildcard for a name, and wildcard entries are ignored: that key approves nothing/,
  ],
  [`*@example.com ${OURS} ${KEY}`, /wildcard entries are ignored/],
  [
    `* cert-authority,${OURS},valid-before="20270101" ${KEY}`,
    /any name: anyone with a certificate of that authority can approve/,
  ],
  [`*@* cert-authority,${OURS},valid-before="20270101" ${KEY}`, /any name/],
  [`"ada,?*" cert-authority,${OURS},valid-before="20270101" ${KEY}`, /any name/],
  [`*@example.com CERT-AUTHORITY,${OURS} ${KEY}`, /authority without an expiry \(valid-before\)/],
  [`ada ${OURS},valid-before="20261120" ${KEY}`, /has expired \(valid-before\): that key approves nothing/],
  [`ada ${OURS},valid-before="202611210259Z" ${KEY}`, /has expired/],
  [`ada ${OURS},valid-after="20270101" ${KEY}`, /is not valid yet/],
])('warns about the line %s', (line, says) => {
  const found = saysOf('# who may', '', line, `bob ${OURS} ${KEY}`);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^3: /);
  expect(found[0]).toMatch(says);
});

test('says whether anybody could approve at this moment', () => {
  const canApprove = (...lines: readonly string[]) => evaluateSigners(lines.join('\n'), NOW).canApprove;
  expect(canApprove(`ada ${KEY}`)).toBe(true);
  expect(canApprove(`*@example.com cert-authority,${OURS} ${KEY}`)).toBe(true);
  expect(
    canApprove(
      `ada ${OURS},valid-before="20200101" ${KEY}`,
      `bob namespaces="git" ${KEY}`,
      `* ${OURS} ${KEY}`,
      `carl ${OURS},valid-after="20990101" ${KEY}`,
    ),
  ).toBe(false);
});
