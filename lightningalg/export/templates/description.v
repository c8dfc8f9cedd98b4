(* ==== Networks as data, and their shapes ==== *)

Definition is_matrix (rows columns : nat) (A : list (list Z)) : Prop :=
  length A = rows /\ Forall (fun row => length row = columns) A.
Definition matrix_shape (rows columns : nat) (A : list (list Z)) : bool :=
  (Nat.eqb (length A) rows && forallb (fun row => Nat.eqb (length row) columns) A)%bool.
Lemma matrix_shape_ok : forall rows columns A, matrix_shape rows columns A = true -> is_matrix rows columns A.
Proof.
  intros rows columns A H. unfold matrix_shape in H. apply Bool.andb_true_iff in H. destruct H as [L R].
  split; [apply Nat.eqb_eq, L|]. apply Forall_forall. intros x Hx. rewrite forallb_forall in R. apply Nat.eqb_eq, R, Hx.
Qed.

(* A parameter matrix, as in parameter_matrix; a layer with the numbers of the values that it reads: number 0 is
   the input, number i is the value of the i-th layer. *)
Inductive block := Block (first rows columns : nat).
Inductive node :=
| Attention (Q K V : block) (z : nat)
| Linear (W : block) (z : nat)
| Bias (b : block) (z : nat)
| Activation (degree : nat) (z : nat)
| Sum (z : nat) (others : list nat).

Definition block_matrix (W : block) (theta : list dual) : matrix :=
  match W with Block first rows columns => parameter_matrix first rows columns theta end.
Definition node_value (t : nat) (theta : list dual) (number : nat) (values : list matrix) (x : node) : matrix :=
  match x with
  | Attention Q K V z =>
      attention t (block_matrix Q theta) (block_matrix K theta) (block_matrix V theta) (nth z values [])
  | Linear W z => linear t (block_matrix W theta) (nth z values [])
  | Bias b z => add_bias (block_matrix b theta) (nth z values [])
  | Activation degree z => activation degree (nth z values [])
  | Sum z others => fold_left (fun F o => add_matrices F (nth o values [])) others (nth z values [])
  end.
(* one value after another: each from its number, the values before it, and its item *)
Fixpoint collect {A B : Type} (step : nat -> list A -> B -> A) (values : list A) (items : list B) : list A :=
  match items with
  | [] => values
  | x :: rest => collect step (values ++ [step (length values) values x]) rest
  end.
Definition run (t : nat) (net : list node) (output : nat) (theta : list dual) (X : matrix) : matrix :=
  nth output (collect (node_value t theta) [X] net) [].

(* -- shapes -- *)

Definition first_of (W : block) : nat := match W with Block first _ _ => first end.
Definition rows_in (W : block) : nat := match W with Block _ rows _ => rows end.
Definition columns_in (W : block) : nat := match W with Block _ _ columns => columns end.
Definition reads (x : node) : list nat :=
  match x with
  | Attention _ _ _ z | Linear _ z | Bias _ z | Activation _ z => [z]
  | Sum z others => z :: others
  end.
(* a parameter matrix of this shape, among n parameters *)
Definition fits (n : nat) (W : block) (rows columns : nat) : bool :=
  (Nat.eqb (rows_in W) rows && Nat.eqb (columns_in W) columns && Nat.leb (first_of W + rows * columns) n)%bool.
Definition below (a : nat) (test : nat -> bool) : bool := forallb test (seq 0 a).
Definition nowhere : node := Sum 0 [].

(* the number of rows of the value number a, from those of the values before it *)
Definition node_height (a : nat) (heights : list nat) (x : node) : nat :=
  match x with
  | Attention _ _ V _ => rows_in V
  | Linear W _ => rows_in W
  | Bias _ z | Activation _ z | Sum z _ => nth z heights O
  end.
(* it reads values before it, of shapes that fit, and its parameter matrices lie among the n parameters *)
Definition node_shaped (n : nat) (heights : list nat) (a : nat) (x : node) : bool :=
  (forallb (fun z => Nat.ltb z a) (reads x) &&
  match x with
  | Attention Q K V z =>
      let d := nth z heights O in
      fits n Q (rows_in Q) d && fits n K (rows_in Q) d && fits n V (rows_in V) d
  | Linear W z => fits n W (rows_in W) (nth z heights O)
  | Bias b z => fits n b (nth z heights O) 1
  | Activation _ _ => true
  | Sum z others => forallb (fun o => Nat.eqb (nth o heights O) (nth z heights O)) others
  end)%bool.
(* Inputs have width rows, the value number `output` has height rows, all shapes between agree, and every parameter matrix lies
   within the parameters number 0 to n - 1. *)
Definition well_shaped (n width height : nat) (net : list node) (output : nat) : bool :=
  let heights := collect node_height [width] net in
  (Nat.leb output (length net) && Nat.eqb (nth output heights O) height &&
  below (length net) (fun i => node_shaped n heights (S i) (nth i net nowhere)))%bool.
