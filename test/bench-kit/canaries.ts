/** Words that occur nowhere else, so that finding one of them anywhere is a leak. */
export const CANARIES = {
  token: 'tok-Zq7mK2vX9pLw4RtB8nHc',
  otherToken: 'tok-Jd3sF6gY1uQe5WkN7xVa',
  oldKey: 'old+key/Mb8cTz4hRj6yPn2w',
  givenKey: 'new+key/Xs5dVf9kLq3gHt7e',
  passphrase: 'four words-Gw2bNr8mDc6v-of nonsense',
} as const;
