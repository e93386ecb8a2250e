import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

/** The bits needed to guess a text, by zxcvbn. Imported late: it loads dictionaries. */
export function guessedBits(text: string): number {
  return zxcvbn.check(text).guessesLog10 / Math.log10(2);
}
