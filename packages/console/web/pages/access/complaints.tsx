import { Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import type { Remark } from '../../parts/code-editor-view.tsx';
import type { PolicyCheck } from './use-policy-check.ts';
import classes from './complaints.module.css';

const LOOKS = {
  error: { word: 'error', Icon: IconAlertTriangle },
  warning: { word: 'warning', Icon: IconAlertTriangle },
  info: { word: 'hint', Icon: IconInfoCircle },
} as const;

/** What the server says of the text, a line each; a click brings the cursor there. */
export function Complaints({ check, onPlace }: { readonly check: PolicyCheck | undefined; readonly onPlace: (remark: Remark) => void }) {
  return (
    <div role="status" aria-label="Check" className={classes.box}>
      {check && check.complaints.length === 0 && (
        <Text size="sm" className={classes.good}>
          <IconCircleCheck size={15} aria-hidden /> The server finds nothing wrong.
        </Text>
      )}
      {check && check.complaints.length > 0 && (
        <ul>
          {check.complaints.map((remark, at) => {
            const { word, Icon } = LOOKS[remark.severity];
            return (
              <li key={at} data-severity={remark.severity}>
                <button type="button" onClick={() => onPlace(remark)}>
                  <Icon size={15} aria-hidden />
                  <span>{`${word}, line ${remark.line}: ${remark.message}`}</span>
                </button>
              </li>
            );
          })}
        </ul>
      )}
      {check?.left_out !== undefined && <Text size="sm">{`and ${check.left_out} more`}</Text>}
    </div>
  );
}
