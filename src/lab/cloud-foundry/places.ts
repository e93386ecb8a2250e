import { randomUUID } from 'node:crypto';

/** The one organization and space of a lab's platform; GUIDs of their own in each process. */
export const ORG = { guid: randomUUID(), name: 'acme' } as const;
export const SPACE = { guid: randomUUID(), name: 'prod' } as const;
/** Where the bound applications are that nobody here may see. */
export const UNSEEN_SPACE = randomUUID();
