import type { ReactNode } from 'react';
import classes from './data-table.module.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** The column that names the row. */
  readonly main?: boolean;
  readonly end?: boolean;
}

interface DataTableProps<Row> {
  /** Says what the rows are. */
  readonly label: string;
  /** The label is already on the page as a heading. */
  readonly labelHidden?: boolean;
  readonly rows: readonly Row[];
  readonly id: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly empty?: ReactNode;
}

/** A table of some dozens of rows; on narrow screens each row is a card. Long lists are `NamesTable`. */
export function DataTable<Row>({ label, labelHidden = false, rows, id, columns, empty }: DataTableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div className={classes.scroll} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.table}>
        <caption className={labelHidden ? classes.hidden : classes.caption}>{label}</caption>
        <thead>
          <tr>
            {columns.map(({ title, end }) => (
              <th key={title} scope="col" data-end={end}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)}>
              {columns.map(({ title, cell, main, end }) => {
                const Cell = main ? 'th' : 'td';
                return (
                  <Cell key={title} {...(main ? { scope: 'row' } : {})} data-title={title} data-end={end}>
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
