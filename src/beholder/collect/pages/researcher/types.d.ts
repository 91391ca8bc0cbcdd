// Messages of routes/researcher.py, for the type checker only.

export interface Slots { done: number; running: number; free: number }

export interface Question {
  question: string;
  kind: string;
  text: string;
  slots: Slots;
  answers: { valid: number; spoiled: number };
  skips: number;
  sessions: Record<string, number>;
  cells: { cell: string; collected: number; planned: number }[];
}

export interface LogEntry { at: number; kind: string; detail: Record<string, unknown> & { who?: string; reason?: string } }

export interface BrokenImage { image: string; path: string; reason: string }

/** The overview. */
export interface Study {
  study: { name: string; title: string; description: string; currency: string; minimum_hourly: number; level: number };
  you: { name: string; role: string; may_change: boolean };
  now: number;
  paused: boolean;
  rehearsal: boolean;
  prototype: boolean;
  moderated: boolean;
  entry: { open: boolean; platforms: string[] };
  raters: { total: number; excluded: number; simulated: number };
  comments: number;
  questions: Question[];
  images: { done: number; total: number; broken: BrokenImage[] };
  disk: { free: number };
  log: LogEntry[];
  formats: string[];
}

/** A session on the Raters page. */
export interface Session {
  rater: string;
  session: string;
  question: string;
  platform: string;
  simulated: boolean;
  status: string;
  started: number;
  code: string | null;
  other_device: boolean;
  excluded: boolean;
  reason: string | null;
  flags: string[];
  answers: number;
  planned: number | null;
  spoiled: number;
  skips: number;
  skipped: number | null;
  median_seconds: number | null;
  same_share: number | null;
  gold_share: number | null;
  attention_share: number | null;
  qualification_share: number | null;
  frame_hz: number | null;
  pay: number | null;
  hourly: number | null;
}

export interface SessionPage { total: number; offset: number; rows: Session[] }

export interface Comment {
  at: number;
  rater: string;
  question: string;
  text: string;
  clear?: number | null;
  fair?: number | null;
  skipped?: string;
}

export interface BoardRow {
  generator: string;
  rating: number;
  low: number | null;
  high: number | null;
  rank_low: number;
  rank_high: number;
  separated_from: string[];
  answers: number;
  raters: number;
}

export interface Board {
  question: string;
  aspect: string;
  method: string;
  ties: string | null;
  anytime: boolean;
  note: string;
  why: string;
  rows: BoardRow[];
}

export interface Results { note: string; level: number; responses: number; boards: Board[] }
