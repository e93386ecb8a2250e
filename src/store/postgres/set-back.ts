/**
 * What the owner of the database runs where the last rows are gone and the heads that were signed over them bar
 * the way: no member of the team may take a head away. What is left ends with the newest head that covers only
 * rows that are there; rows behind it go too. `end`: one more than the number of the last leaf. Each line is
 * short enough for a hint. Pure.
 */
export function setBackSql(end: number): readonly string[] {
  const behind = '(select coalesce(max(size), 0) from lifeboat.heads)';
  const guards = (how: string) =>
    ['heads', 'entries', 'leaves']
      .map((table) => `alter table lifeboat.${table} ${how} trigger ${table}_append_only;`)
      .join(' ');
  return [
    `begin; ${guards('disable')}`,
    `delete from lifeboat.heads where size > ${end};`,
    `delete from lifeboat.entries where id in (select id from lifeboat.leaves where leaf >= ${behind});`,
    `delete from lifeboat.leaves where leaf >= ${behind};`,
    `${guards('enable always')} commit;`,
  ];
}
