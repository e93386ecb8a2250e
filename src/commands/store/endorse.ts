import { createHash, createPublicKey } from 'node:crypto';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { LOG_STREAM } from '../../store/journal.ts';
import { KEY_ENDORSED } from '../../store/log/log-entries.ts';
import { endorsementOf } from '../../store/log/named-keys.ts';
import { confirmTyped } from './confirm.ts';
import { type Installation, installationsIn } from './status.ts';

/**
 * `lifeboat store endorse INSTALLATION --reason TEXT`: records trust in another installation's key. Shows the
 * key first: a person must have compared it (`lifeboat audit key` on the other machine prints it).
 */
export const storeEndorse: Action<{ readonly reason: string; readonly confirm?: string }> = async (
  context,
  [wanted = ''],
  { reason, confirm },
) => {
  const config = await loadConfig(context.env, context.configPath);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const { journal, signer } = workspace;
    const origin = await journal.log.origin();
    const entries = await journal.read(LOG_STREAM);
    const known = installationsIn(entries, origin);
    const { installation, publicKey, state, by, at } = theOne(known, wanted);
    assertBelieved(signer.installation, known);
    const mine = installationsIn(entries, origin, signer.publicKey);
    if (origin === undefined || theOne(mine, installation).state !== 'announced') {
      const known = { installation, state: state === 'first' ? 'first' : 'endorsed', isNew: false } as const;
      await printResult(context, 'endorsement', known, () => {
        context.stdout.write(`${installation} is trusted already: it is ${state}\n`);
      });
      return EXIT.closed;
    }
    const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
    context.stderr.write(
      `installation ${installation}, announced by ${show(by, 120)} at ${formatTime(at)} UTC\n${publicKey}`,
    );
    context.stderr.write(`SHA-256 of the key: ${createHash('sha256').update(spki).digest('hex')}\n`);
    await confirmTyped(context, { word: installation, given: confirm, what: 'the endorsement' });
    const body = { note: endorsementOf(publicKey, origin, signer), reason };
    await journal.append([{ stream: LOG_STREAM, type: KEY_ENDORSED, body }], []);
    await printResult(context, 'endorsement', { installation, state: 'endorsed', isNew: true }, () => {
      context.stdout.write(`${installation} is trusted from now on\n`);
    });
    return EXIT.closed;
  } finally {
    await workspace.close();
  }
};

function theOne(known: readonly Installation[], wanted: string): Installation {
  const [one, ...others] = known.filter(({ installation }) => installation.startsWith(wanted.toLowerCase()));
  if (one !== undefined && others.length === 0 && wanted !== '') return one;
  throw new LifeboatError(
    'store.installation',
    `no installation of this store begins with ${show(wanted, 40)}`,
    {
      hints: [
        `it knows: ${known.map(({ installation, state }) => `${installation} (${state})`).join(', ')}`,
        'an installation is known once it has written to the store',
      ],
      exitCode: EXIT.usage,
    },
  );
}

/** An installation that is not trusted cannot make others trusted. */
function assertBelieved(own: string, known: readonly Installation[]): void {
  const { state } = known.find(({ installation }) => installation === own) ?? { state: 'announced' };
  if (state !== 'announced') return;
  throw new LifeboatError('store.unendorsed', `this installation (${own}) is not endorsed itself`, {
    hints: ['have it endorsed first, by somebody whose installation is: `lifeboat store status` lists them'],
    exitCode: EXIT.waiting,
  });
}
