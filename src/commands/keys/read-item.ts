import { EXIT } from '../../base/errors.ts';
import type { Action } from '../../cli/define.ts';
import { answerFromKeychain } from '../../keys/os-store.ts';

/** `lifeboat keychain-item`: prints the digest of the item that another lifeboat asks for on stdin. */
export const readItem: Action<object> = async ({ stdin, stdout }) => {
  await answerFromKeychain(stdin, stdout);
  return EXIT.closed;
};
