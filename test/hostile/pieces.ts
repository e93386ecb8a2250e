import { leaksIn } from '../e2e/leaks.ts';

const PIECE = 8;

/**
 * Secrets in a text in any form, whole or in part: eight characters in a row of what is random in one are a
 * leak.
 */
export function piecesIn(where: string, text: string, secrets: readonly string[]): string[] {
  const pieces = secrets.flatMap((secret, at) => {
    const random = secret.split(/[\s/]|[a-z]{4,}/u).filter((part) => part.length >= PIECE);
    const all = random.flatMap((part) =>
      Array.from({ length: part.length - PIECE + 1 }, (_, from) => part.slice(from, from + PIECE)),
    );
    return all.filter((piece) => text.includes(piece)).map(() => `${where}: a piece of secret ${at}`);
  });
  return [...leaksIn(where, text, secrets), ...new Set(pieces)];
}
