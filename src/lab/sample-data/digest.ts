import type { Query } from '../engine/engine.ts';

export type SampleTable = 'customers' | 'products' | 'orders' | 'order_lines';

interface TableDigest {
  readonly rows: number;
  /** Highest id; 0 for an empty table. For `order_lines` the highest order. */
  readonly maxId: number;
  /** MD5 over the MD5 of every row, in key order: equal digests mean equal rows. */
  readonly md5: string;
}

export interface SampleDigest {
  readonly tables: Readonly<Record<SampleTable, TableDigest>>;
  /**
   * Orders whose total is not the sum of their lines. Any other number than 0 means that a transaction came
   * apart.
   */
  readonly unbalancedOrders: number;
}

/**
 * Describes all rows of the sample data in one statement, so in one snapshot, up to the order `upTo`.
 * Two digests with the same `upTo` are equal exactly when the data was equal up to there.
 */
export async function sampleDigest(query: Query, upTo?: number): Promise<SampleDigest> {
  const rows = await query<{
    name: SampleTable | 'unbalanced';
    rows: string;
    max_id: string;
    md5: string;
  }>(DIGEST, [upTo ?? Number.MAX_SAFE_INTEGER]);
  const digest = (name: SampleTable): TableDigest => {
    const row = rows.find((candidate) => candidate.name === name);
    return {
      rows: Number(row?.rows ?? 0),
      maxId: Number(row?.max_id ?? 0),
      md5: row?.md5 ?? '',
    };
  };
  return {
    tables: {
      customers: digest('customers'),
      products: digest('products'),
      orders: digest('orders'),
      order_lines: digest('order_lines'),
    },
    unbalancedOrders: Number(rows.find((row) => row.name === 'unbalanced')?.rows ?? 0),
  };
}

/*
 * Every value is turned to text explicitly: the settings of a session (time zone, date style) do not matter.
 */
const DIGEST = `
  with content (name, key, part, line) as (
    select 'customers', id::bigint, 0, concat_ws('|', id, name, email) from customers
    union all
    select 'products', id::bigint, 0, concat_ws('|', id, name, price) from products
    union all
    select 'orders', id, 0,
           concat_ws('|', id, customer_id, total,
                     to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'))
    from orders where id <= $1::bigint
    union all
    select 'order_lines', order_id, line_no,
           concat_ws('|', order_id, line_no, product_id, quantity, unit_price)
    from order_lines where order_id <= $1::bigint
  )
  select name, count(*) as rows, max(key) as max_id, md5(string_agg(md5(line), '' order by key, part)) as md5
  from content group by name
  union all
  select 'unbalanced', count(*), null, null
  from (
    select from orders left join order_lines on order_id = id where id <= $1::bigint
    group by id having sum(quantity * unit_price) is distinct from total
  ) wrong
`;
