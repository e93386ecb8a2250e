import type { Secret } from '../base/secret.ts';
import { loadEstimate, secretWords } from '../view/secret-words.ts';
import type { CommandContext } from './context.ts';

/** Warns of common mistakes in a given key, and of a new one that is soon guessed. Never refuses a key. */
export async function warnOfKey(
  { stderr }: Pick<CommandContext, 'stderr'>,
  key: Secret,
  { isNew }: { readonly isNew: boolean },
): Promise<void> {
  const text = key.reveal();
  const guessedBits = isNew ? (await loadEstimate())(text) : undefined;
  const words = secretWords(text, { minLength: 0, isNew, lostLineEnd: false, guessedBits });
  for (const pitfall of words.pitfalls) stderr.write(`warning: the key: ${pitfall}\n`);
  if (words.strength !== undefined && !words.strength.startsWith('strong'))
    stderr.write(`warning: the new key is ${words.strength}; a generated one has 256\n`);
}
