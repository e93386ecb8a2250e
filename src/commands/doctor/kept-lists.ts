import { counted } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openJournalIfAny, openStoreOf } from '../../compose/store-of.ts';
import { loginName } from '../../compose/workspace.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { createSigner } from '../../store/log/signer.ts';
import { compareProjections, PROJECTIONS, type ProjectionDifference } from '../../store/projected.ts';
import { attempt, type Check, good } from './check.ts';

const MAX_NAMED = 5;

/** Do the lists that commands read match the journal? Reads every entry. `rebuild` repairs them. */
export async function keptLists(
  context: CommandContext,
  keyring: Keyring | undefined,
  rebuild: boolean,
): Promise<Check[]> {
  const found = await attempt('lists', async () => {
    const differences = await compared(context);
    if (differences === undefined) return [];
    if (differences.length === 0) return [good('lists', 'they match the entries of the journal')];
    // A journal can be written only with the key that signs it, and a look must not create that key.
    const signs = keyring !== undefined && (await keyring.roots()).signingKey;
    if (!rebuild || !signs) return inChecks(differences);
    const signer = createSigner(await keyring.signingKey());
    const journal = await openStoreOf(context, { by: loginName(context.env), signer, rebuild });
    await journal.close();
    return inChecks(differences).map(({ what, found }): Check => {
      return { what, state: 'warn', found: `${found}; rebuilt from the journal`, hints: [] };
    });
  });
  return 'check' in found ? [found.check] : found.value;
}

/** Undefined if there is no journal yet. */
async function compared(context: CommandContext): Promise<readonly ProjectionDifference[] | undefined> {
  const journal = await openJournalIfAny(context);
  try {
    return journal && (await compareProjections(journal, PROJECTIONS));
  } finally {
    await journal?.close();
  }
}

function inChecks(differences: readonly ProjectionDifference[]): Check[] {
  return [...Map.groupBy(differences, ({ projection }) => projection)].map(([projection, rows]): Check => {
    const named = rows.slice(0, MAX_NAMED).map((row) => `${show(row.key, 80)} (${howItDiffers(row)})`);
    const more = rows.length > MAX_NAMED ? ', ...' : '';
    const what = counted(rows.length, 'row does not match the entries', 'rows do not match the entries');
    return {
      what: `list ${projection}`,
      state: 'bad',
      found: `${what}: ${named.join(', ')}${more}`,
      hints: [
        'to check the entries themselves: `lifeboat audit verify`',
        'to rebuild the list from them: `lifeboat doctor --rebuild`',
      ],
    };
  });
}

function howItDiffers({ kept, rebuilt }: ProjectionDifference): string {
  if (kept === undefined) return 'missing';
  return rebuilt === undefined ? 'in no entry' : 'different';
}
