// The state of a conversation, and the call that runs.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { GENERATIONS } from '../../../api/generations';
import { streamAnswer } from './stream-answer';
import type { SentCall } from './stream-answer';
import type { AnswerTurn, Turn } from './wires/turns';
import { EMPTY_ANSWER } from './wires/chat-answer';
import type { ChatAnswer } from './wires/chat-answer';

export interface Chat {
  readonly turns: readonly Turn[];
  /** The answer that is coming; null: no call runs. */
  readonly live: ChatAnswer | null;
  /** The failure of the last call; null: it succeeded. */
  readonly error: Error | null;
  /** `turns`: the whole conversation, ending with the new message. */
  readonly send: (turns: readonly Turn[], call: SentCall) => void;
  readonly stop: () => void;
  /** Ends what runs, and goes on from these turns. */
  readonly start: (turns: readonly Turn[]) => void;
}

export function useChat(): Chat {
  const client = useQueryClient();
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [live, setLive] = useState<ChatAnswer | null>(null);
  const running = useRef<AbortController>(null);
  // The page is left: the call must not go on, since it is paid for.
  useEffect(() => () => running.current?.abort(), []);

  const run = useMutation({
    mutationFn: async (call: SentCall) => {
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      let latest = EMPTY_ANSWER;
      const frame = new NextFrame(() => setLive(latest));
      const onProgress = (answer: ChatAnswer) => {
        latest = answer;
        frame.request();
      };
      const end = (ended: Omit<AnswerTurn, 'kind' | 'wire'>) => {
        const turn: AnswerTurn = { kind: 'answer', wire: call.wire.name, ...ended };
        if (running.current === controller) setTurns((former) => [...former, turn]);
      };
      setLive(latest);
      try {
        const answer = await streamAnswer(call, signal, onProgress);
        end({ answer, outcome: answer.failure === null ? 'finished' : 'failed', error: null });
      } catch (error) {
        end({ answer: latest, outcome: signal.aborted ? 'stopped' : 'failed', error });
        if (!signal.aborted) throw error;
      } finally {
        frame.cancel();
        if (running.current === controller) {
          running.current = null;
          setLive(null);
        }
        void client.invalidateQueries({ queryKey: GENERATIONS });
      }
    },
  });

  return {
    turns,
    live,
    error: run.error,
    send: (sent, call) => {
      setTurns(sent);
      run.mutate(call);
    },
    stop: () => running.current?.abort(),
    start: (from) => {
      const former = running.current;
      // Before it ends, so that it appends nothing to the new conversation.
      running.current = null;
      former?.abort();
      setTurns(from);
      setLive(null);
      run.reset();
    },
  };
}

/** Chunks come faster than frames: the page is drawn once a frame at most. */
class NextFrame {
  private handle = 0;

  constructor(private readonly draw: () => void) {}

  request(): void {
    if (this.handle !== 0) return;
    this.handle = requestAnimationFrame(() => {
      this.handle = 0;
      this.draw();
    });
  }

  cancel(): void {
    cancelAnimationFrame(this.handle);
  }
}
