import type { StoreRights } from '../rights.ts';
import type { Session } from './link.ts';

const RIGHTS = `select case
    when (select rolsuper from pg_roles where rolname = current_user) then 'superuser'
    when pg_has_role(c.relowner, 'usage') then 'owner'
    when has_column_privilege(c.oid, 'body', 'insert') then 'member'
    else 'reader' end as rights
  from pg_class c where c.oid = 'lifeboat.entries'::regclass`;

/** Needs only the right to read the store. */
export async function rightsIn(session: Session): Promise<StoreRights> {
  const [row] = await session.query<{ rights: StoreRights }>(RIGHTS);
  return row?.rights ?? 'reader';
}
