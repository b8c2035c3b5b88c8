import { Badge } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconClock, IconHandStop } from '@tabler/icons-react';

export type Mood = 'good' | 'wait' | 'warn' | 'bad';

const LOOKS = {
  good: { color: 'green', Icon: IconCircleCheck },
  wait: { color: 'gray', Icon: IconClock },
  warn: { color: 'yellow', Icon: IconHandStop },
  bad: { color: 'red', Icon: IconAlertTriangle },
} as const;

/** A state in one or two words, told by word, shape and colour. */
export function StateChip({ mood, children }: { readonly mood: Mood; readonly children: string }) {
  const { color, Icon } = LOOKS[mood];
  return (
    <Badge color={color} variant="light" leftSection={<Icon size={13} aria-hidden />} tt="none" miw="max-content">
      {children}
    </Badge>
  );
}
