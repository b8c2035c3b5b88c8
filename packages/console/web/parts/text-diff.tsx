import { lineDiff } from '../api/line-diff.ts';
import classes from './text-diff.module.css';

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;
const WORDS = { same: '', added: 'added', removed: 'removed' } as const;

/** Two texts line by line, with what was added and removed. */
export function TextDiff({ before, after, label }: { readonly before: string; readonly after: string; readonly label: string }) {
  return (
    <div className={classes.box} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.table}>
        <thead className={classes.hidden}>
          <tr>
            <th scope="col">Before</th>
            <th scope="col">After</th>
            <th scope="col">Change</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {lineDiff(before, after).map((line, at) => (
            <tr key={at} data-kind={line.kind}>
              <td>{line.old}</td>
              <td>{line.new}</td>
              <td>
                <span aria-hidden="true">{SIGNS[line.kind]}</span>
                <span className={classes.hidden}>{WORDS[line.kind]}</span>
              </td>
              <td>{line.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
