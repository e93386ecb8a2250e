/** The same service and plan for every instance: what a disaster recovery asks of its target. */
export const SERVICE_ID = 'e5d1f0a2-6b43-4c8e-9d21-7a30c5b9f614';
export const PLAN_ID = '2f9b8c74-0e1d-4a56-b3c7-91d8e4f60a25';

/** Where the instances live on the application platform. */
export const TENANT = {
  id: '7c4e2b91-5d08-4f3a-8e67-c2a19b0d53f8',
  name: 'lifeboat',
} as const;
export const SPACE = {
  id: 'a83f6d15-92ce-4b70-a4d1-0f5e7c28b936',
  name: 'lab',
} as const;
