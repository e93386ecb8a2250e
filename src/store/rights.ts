/**
 * What a connection's user may do to a team's store: `reader` cannot append; `member` reads and appends;
 * `owner` can also change the schema, and so switch off what protects recorded rows; `superuser` can do that
 * and everything else on the server.
 */
export const STORE_RIGHTS = ['reader', 'member', 'owner', 'superuser'] as const;
export type StoreRights = (typeof STORE_RIGHTS)[number];

const MEMBER_ONLY =
  'work each day as a user that has lifeboat_member and nothing else, and as this one only for `lifeboat store migrate`';

/** For daily work as such a user. */
export const RIGHTS_WORDS: Readonly<
  Record<StoreRights, { readonly found: string; readonly hint: string } | undefined>
> = {
  reader: {
    found: 'this user can only read it: no run can begin or go on',
    hint: 'the owner of the store lets a member in: grant lifeboat_member to the user',
  },
  member: undefined,
  owner: { found: 'this user owns it, and could switch off what protects the record', hint: MEMBER_ONLY },
  superuser: {
    found: 'this user is a superuser, and could switch off what protects the record',
    hint: MEMBER_ONLY,
  },
};
