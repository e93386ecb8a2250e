import { randomUUID } from 'node:crypto';

/** One service and plan for every instance: a disaster recovery requires that of its target. */
export const SERVICE_ID = 'e5d1f0a2-6b43-4c8e-9d21-7a30c5b9f614';
export const PLAN_ID = '2f9b8c74-0e1d-4a56-b3c7-91d8e4f60a25';

export const TENANT = { id: '7c4e2b91-5d08-4f3a-8e67-c2a19b0d53f8', name: 'lifeboat' } as const;
export const SUBTENANT = { id: 'a83f6d15-92ce-4b70-a4d1-0f5e7c28b936', name: 'lab' } as const;

/** The one organization and space of a lab's platform; GUIDs of their own in each process. */
export const ORG = { guid: randomUUID(), name: 'acme' } as const;
export const SPACE = { guid: randomUUID(), name: 'prod' } as const;
/** The space of bound applications that no token may see. */
export const UNSEEN_SPACE = randomUUID();
