import { describe, expect, test } from 'vitest';
import { resemblance } from '../../src/approvals/terms.ts';

const alice = { name: 'alice', email: 'alice@acme.com' };
const smith = { name: 'Alice Smith', email: 'a.smith@acme.com', login: 'alice' };

describe('a name that a signer is listed under', () => {
  test.each([
    ['alice@acme.com', alice, 'same'],
    ['ALICE@Acme.com', alice, 'same'],
    ['\uff41lice@acme.com', alice, 'same'],
    ['alice', alice, 'same'],
    ['alice+ops@acme.com', alice, 'same'],
    ['alice@acme.com', { name: 'alice', email: 'alice+oncall@acme.com' }, 'same'],
    ['alice+ops', alice, 'same'],
    ['a.smith', smith, 'same'],
  ] as const)('%s is %j', (name, operator, found) => {
    expect(resemblance(name, [], operator)).toBe(found);
  });

  test.each([
    ['alice@home.org', alice, 'the name'],
    ['alice+x@home.org', alice, 'the name, with a tag'],
    ['alice@home.org', smith, 'the login'],
    ['alice.smith@home.org', smith, 'the full name'],
    ['alice@home.org', { name: 'Alice' }, 'the name, where no address is known'],
  ] as const)('%s may be %j, by %s', (name, operator, _by) => {
    expect(resemblance(name, [], operator)).toBe('namesake');
  });

  test.each([
    ['bob@acme.com', alice],
    ['alicia@acme.com', alice],
    ['bob+alice@acme.com', alice],
    ['bob', alice],
    // Only the local part is similar, and no one has that name.
    ['a.smith@home.org', smith],
    ['+@acme.com', { name: '-', email: 'x@acme.com' }],
  ] as const)('%s is a different person from %j', (name, operator) => {
    expect(resemblance(name, [], operator)).toBeUndefined();
  });

  test('is compared with the requester, if that is not the person who confirms', () => {
    expect(resemblance('alice+1@acme.com', ['alice@acme.com', 'Alice'], { name: 'bob' })).toBe('same');
    expect(resemblance('alice@home.org', ['alice@acme.com', 'Alice'], { name: 'bob' })).toBe('namesake');
    expect(resemblance('carol@acme.com', ['alice@acme.com', 'Alice'], { name: 'bob' })).toBeUndefined();
  });
});
