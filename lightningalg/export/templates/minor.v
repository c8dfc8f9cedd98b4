(* ---- A minor of the Jacobian that is invertible modulo a prime ---- *)

Fixpoint dot_product (x y : list Z) : Z :=
  match x, y with a :: x', b :: y' => a * b + dot_product x' y' | _, _ => 0 end.
Definition entry (table : list (list Z)) (i k : nat) : Z := nth k (nth i table []) 0.

(* the columns of an inverse modulo p of the r x r matrix *)
Definition matrix_check (r : nat) (p : Z) (table inverse_columns : list (list Z)) : bool :=
  (Z.leb 2 p && Nat.eqb (length table) r && Nat.eqb (length inverse_columns) r &&
  forallb (fun row => Nat.eqb (length row) r) table &&
  forallb (fun column => Nat.eqb (length column) r) inverse_columns &&
  forallb (fun ix => let x := map (fun a => a mod p) (snd ix) in
    forallb (fun jy => Z.eqb ((dot_product x (snd jy) - delta (fst ix) (fst jy)) mod p) 0)
      (combine (seq 0 r) inverse_columns)) (combine (seq 0 r) table))%bool.

Lemma sum_first : forall n f, sum (S n) f = f O + sum n (fun i => f (S i)).
Proof.
  induction n; intros f; [simpl; ring|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IHn.
  change (sum (S n) (fun i => f (S i))) with (sum n (fun i => f (S i)) + f (S n)). ring.
Qed.

Lemma dot_product_is_sum : forall r x y, length x = r -> length y = r ->
  dot_product x y = sum r (fun k => nth k x 0 * nth k y 0).
Proof.
  induction r; intros [|a x] [|b y] Hx Hy; try discriminate; [reflexivity|].
  rewrite sum_first. simpl in *. rewrite (IHr x y) by lia. reflexivity.
Qed.

Lemma numbered : forall (A : Type) (l : list A) r i d, length l = r -> (i < r)%nat ->
  In (i, nth i l d) (combine (seq 0 r) l).
Proof.
  intros A l r i d Hl Hi.
  assert (E : nth i (combine (seq 0 r) l) (O, d) = (i, nth i l d)).
  { rewrite combine_nth by (rewrite seq_length; lia). rewrite seq_nth by lia. reflexivity. }
  rewrite <- E. apply nth_In. rewrite combine_length, seq_length. lia.
Qed.

Lemma nth_of_map : forall (A B : Type) (f : A -> B) l d e i, (i < length l)%nat -> nth i (map f l) e = f (nth i l d).
Proof. intros. rewrite (nth_indep _ e (f d)) by (rewrite map_length; assumption). apply map_nth. Qed.

Lemma forallb_nth : forall (A : Type) (f : A -> bool) l d i, forallb f l = true -> (i < length l)%nat ->
  f (nth i l d) = true.
Proof. intros A f l d i H Hi. rewrite forallb_forall in H. apply H, nth_In, Hi. Qed.

Lemma matrix_inverse : forall r p table inverse_columns, matrix_check r p table inverse_columns = true ->
  2 <= p /\ forall i j, (i < r)%nat -> (j < r)%nat ->
  (p | sum r (fun k => entry table i k * entry inverse_columns j k) - delta i j).
Proof.
  intros r p T N H. unfold matrix_check in H. rewrite !Bool.andb_true_iff in H.
  destruct H as [[[[[Hp HT] HN] Hrows] Hcolumns] H].
  apply Z.leb_le in Hp. apply Nat.eqb_eq in HT, HN.
  split; [exact Hp|]. intros i j Hi Hj.
  rewrite forallb_forall in H. specialize (H _ (numbered _ T r i [] HT Hi)). cbv zeta in H.
  rewrite forallb_forall in H. specialize (H _ (numbered _ N r j [] HN Hj)). simpl fst in H. simpl snd in H.
  apply Z.eqb_eq, Z.mod_divide in H; [|lia].
  apply (forallb_nth _ _ _ [] i) in Hrows; [|lia]. apply (forallb_nth _ _ _ [] j) in Hcolumns; [|lia].
  apply Nat.eqb_eq in Hrows, Hcolumns.
  rewrite (dot_product_is_sum r) in H by (rewrite ?map_length; assumption).
  replace (sum r (fun k => entry T i k * entry N j k) - delta i j) with
    (sum r (fun k => (entry T i k - entry T i k mod p) * entry N j k) +
     (sum r (fun k => nth k (map (fun a => a mod p) (nth i T [])) 0 * nth k (nth j N []) 0) - delta i j)).
  - apply Z.divide_add_r; [|exact H]. apply sum_divide. intros k _. apply Z.divide_mul_l.
    exists (entry T i k / p). pose proof (Z.div_mod (entry T i k) p ltac:(lia)). lia.
  - rewrite Z.add_sub_assoc, <- sum_plus. f_equal. apply sum_ext. intros k Hk. unfold entry.
    rewrite (nth_of_map _ _ (fun a => a mod p) _ 0) by lia. ring.
Qed.

Theorem matrix_checked : forall r p table inverse_columns, matrix_check r p table inverse_columns = true ->
  forall c, (forall k, (k < r)%nat -> sum r (fun i => c i * entry table i k) = 0) ->
  forall i, (i < r)%nat -> c i = 0.
Proof.
  intros r p T N H. destruct (matrix_inverse r p T N H) as [Hp HN].
  exact (independent r p (entry T) (fun k j => entry N j k) Hp HN).
Qed.

(* output entries: an input, with the places (row, token) in the value of the network there *)
Definition sample := (list (list Z) * list (nat * nat))%type.
(* the functional of matrices of shape height x t that reads the entry in row i, column j *)
Definition entry_functional (height t i j : nat) : list (list Z) :=
  map (fun a => map (fun b => if (Nat.eqb a i && Nat.eqb b j)%bool then 1 else 0) (seq 0 t)) (seq 0 height).
(* functional and input of every output entry *)
Definition output_entries (height t : nat) (samples : list sample) : list (list (list Z) * list (list Z)) :=
  flat_map (fun s => map (fun q => (entry_functional height t (fst q) (snd q), fst s)) (snd s)) samples.

(* the gradients of all of them by the parameters in `columns`: a row each. Each input and parameter needs one evaluation. *)
Definition gradients (f : list dual -> matrix -> matrix) (n : nat) (theta : list Z) (height t : nat)
    (columns : list nat) (samples : list sample) : list (list Z) :=
  flat_map (fun s =>
    let X := constant (fst s) in
    let values := map (fun c => f (along theta (unit_vector n c)) X) columns in
    map (fun q => let Y := entry_functional height t (fst q) (snd q) in map (fun F => snd (pairing Y F)) values)
      (snd s)) samples.

Lemma gradients_are_rows : forall f n theta height t columns samples,
  gradients f n theta height t columns samples =
  map (fun o => map (gradient f n theta (fst o) (snd o)) columns) (output_entries height t samples).
Proof.
  intros. unfold gradients, output_entries. induction samples as [|s rest IH]; [reflexivity|].
  simpl. rewrite map_app, <- IH. f_equal. rewrite map_map. apply map_ext. intros q.
  rewrite map_map. reflexivity.
Qed.

(* theta has n entries, every input has shape width x t, and the minor is invertible modulo p *)
Definition minor_check (f : list dual -> matrix -> matrix) (n : nat) (theta : list Z) (width height t : nat)
    (columns : list nat) (samples : list sample) (p : Z) (inverse_columns : list (list Z)) : bool :=
  (Nat.eqb (length theta) n && forallb (fun s => matrix_shape width t (fst s)) samples && forallb (fun c => Nat.ltb c n) columns &&
  matrix_check (length columns) p (gradients f n theta height t columns samples) inverse_columns)%bool.

Definition row_of (rows : list (list (list Z) * list (list Z))) (i : nat) := nth i rows ([], []).

Lemma entry_functional_shape : forall height t i j, is_matrix height t (entry_functional height t i j).
Proof.
  intros. unfold entry_functional. split; [rewrite map_length; apply seq_length|].
  apply Forall_map, Forall_forall. intros a _. rewrite map_length. apply seq_length.
Qed.
Lemma output_entries_shape : forall width height t samples,
  forallb (fun s => matrix_shape width t (fst s)) samples = true ->
  forall i, (i < length (output_entries height t samples))%nat ->
  is_matrix height t (fst (row_of (output_entries height t samples) i)) /\
  is_matrix width t (snd (row_of (output_entries height t samples) i)).
Proof.
  intros width height t samples HX i Hi. pose proof (nth_In _ ([], []) Hi) as Hin. unfold row_of.
  revert Hin. generalize (nth i (output_entries height t samples) ([], [])). intros o Ho.
  unfold output_entries in Ho. apply in_flat_map in Ho. destruct Ho as [s [Hs Ho]]. apply in_map_iff in Ho.
  destruct Ho as [q [<- _]]. split; [apply entry_functional_shape|]. cbn [snd].
  rewrite forallb_forall in HX. apply matrix_shape_ok, (HX s). exact Hs.
Qed.

(* The point has n entries, functionals and inputs are matrices of their shapes, and the r gradients there are linearly independent. *)
Definition independent_gradients (f : list dual -> matrix -> matrix) (n width height t r : nat) (theta : list Z)
    (Y X : nat -> list (list Z)) : Prop :=
  length theta = n /\
  (forall i, (i < r)%nat -> is_matrix height t (Y i) /\ is_matrix width t (X i)) /\
  forall c : nat -> Z,
    (forall k, (k < n)%nat -> sum r (fun i => c i * gradient f n theta (Y i) (X i) k) = 0) ->
    forall i, (i < r)%nat -> c i = 0.

Lemma minor_check_parts : forall f n theta width height t columns samples p inverse_columns,
  minor_check f n theta width height t columns samples p inverse_columns = true ->
  length theta = n /\ forallb (fun s => matrix_shape width t (fst s)) samples = true /\
  forallb (fun c => Nat.ltb c n) columns = true /\
  matrix_check (length columns) p (gradients f n theta height t columns samples) inverse_columns = true /\
  length (output_entries height t samples) = length columns.
Proof.
  intros f n theta width height t columns samples p N H. unfold minor_check in H. rewrite !Bool.andb_true_iff in H.
  destruct H as [[[L HX] Hk] H]. apply Nat.eqb_eq in L. repeat split; try assumption.
  unfold matrix_check in H. rewrite !Bool.andb_true_iff in H. destruct H as [[[[[_ R] _] _] _] _].
  apply Nat.eqb_eq in R. rewrite gradients_are_rows, map_length in R. exact R.
Qed.

Theorem minor_checked : forall f n theta width height t columns samples p inverse_columns,
  minor_check f n theta width height t columns samples p inverse_columns = true ->
  independent_gradients f n width height t (length columns) theta (fun i => fst (row_of (output_entries height t samples) i))
    (fun i => snd (row_of (output_entries height t samples) i)).
Proof.
  intros f n theta width height t columns samples p N H.
  destruct (minor_check_parts _ _ _ _ _ _ _ _ _ _ H) as [L [HX [Hk [M R]]]]. split; [exact L|].
  split; [intros i Hi; apply output_entries_shape; [exact HX|lia]|]. intros c Hc.
  apply (matrix_checked _ _ _ _ M). intros k Hr.
  assert (Hn : (nth k columns O < n)%nat) by (apply Nat.ltb_lt, (forallb_nth _ (fun c => Nat.ltb c n)); assumption).
  rewrite <- (Hc _ Hn). apply sum_ext. intros i Hi. f_equal. unfold entry. rewrite gradients_are_rows.
  unfold row_of. rewrite (nth_of_map _ _ _ _ ([], [])) by lia.
  rewrite (nth_of_map _ _ _ _ O) by assumption. reflexivity.
Qed.
