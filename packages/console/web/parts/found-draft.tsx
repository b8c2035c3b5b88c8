import { Alert, Button } from '@mantine/core';

/** Says that what is typed here is from before the page was left or the session was lost, and offers to drop it. */
export function FoundDraft({ drop }: { readonly drop: () => void }) {
  return (
    <Alert color="yellow" variant="light" title="These are unsaved changes from before" mb="md">
      <Button size="xs" variant="default" onClick={drop}>
        Drop them
      </Button>
    </Alert>
  );
}
