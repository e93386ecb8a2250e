import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

/**
 * What a program that guesses needs for a text, in bits, as zxcvbn estimates it. Imported late: it has the
 * dictionaries.
 */
export function guessedBits(text: string): number {
  return zxcvbn.check(text).guessesLog10 / Math.log10(2);
}
