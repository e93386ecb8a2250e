import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { openKeys } from '../../compose/workspace.ts';
import { newPassphrase } from './move-keys.ts';

/** `lifeboat keys passphrase`: in place. After a crash the old or the new passphrase opens the vault file. */
export const keysPassphrase: Action<{ readonly newFile?: string }> = async (context, _, { newFile }) => {
  const { store } = await openKeys(context);
  if (store.changePassphrase === undefined)
    throw new LifeboatError(
      'keys.no-vault',
      `${store.description} has no passphrase that lifeboat could change`,
      {
        hints: ['nothing was changed', 'the system that keeps the keychain changes its password'],
        exitCode: EXIT.usage,
      },
    );
  await store.changePassphrase(() => newPassphrase(context, 'the vault file', newFile));
  const keptIn = store.description;
  await printResult(context, 'passphrase', { changed: true, keptIn }, () => {
    context.stdout.write(`the passphrase of ${keptIn} is changed\n`);
    const file = context.env['LIFEBOAT_PASSPHRASE_FILE'];
    if (file)
      context.stderr.write('LIFEBOAT_PASSPHRASE_FILE still names the old one: put the new one there\n');
    context.stderr.write('copies of the file made before still open with the old passphrase\n');
  });
  return EXIT.closed;
};
