import { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { addressFrom } from '../../src/service/address.ts';
import { openService } from '../../src/service/open.ts';

/*
 * A process that sends one call under a lease of some milliseconds: `stopped-sender.ts ORIGIN CA-FILE LEASE`.
 * It prints when the lease ends, in nanoseconds of the machine's monotonic clock, and then how the call
 * ended, each on a line.
 */
const [origin = '', caFile = '', lease = '0'] = process.argv.slice(2);
const until = process.hrtime.bigint() + BigInt(lease) * 1_000_000n;
process.stdout.write(`${until}\n`);
const client = openService(addressFrom(`${origin}/service-instances/i1`, 62), {
  token: async () => new Secret('bearer token-of-a-test'),
  caFile,
});
const { outcome, ...rest } = await client.createBackup({
  signal: new AbortController().signal,
  mayLeave: () => {
    if (process.hrtime.bigint() >= until) throw new LifeboatError('journal.lost-hold', 'the lease is over');
  },
});
await client.close();
process.stdout.write(
  `${JSON.stringify({ outcome, code: 'failure' in rest ? rest.failure.code : undefined })}\n`,
);
